import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';

function conversation(turns: number): Message[] {
  const messages: Message[] = [{ role: 'system', content: 'Be helpful.' }];
  for (let i = 0; i < turns; i += 1) {
    messages.push({
      role: 'user',
      content: `Question ${i} about order #W${1000000 + i}. ${'word '.repeat(60)}`,
    });
    messages.push({
      role: 'assistant',
      content: `Answer ${i}. ${'some longer text of no use. '.repeat(50)}`,
    });
  }
  messages.push({ role: 'user', content: 'And now the last question.' });
  return messages;
}

test('keeps head and tail word for word, and puts one summary between them', async () => {
  const { engine } = build();
  const messages = conversation(14);
  const result = await engine.compress(structuredClone(messages), {
    currentTokens: roughly(messages),
    targetTokens: 3072,
  });
  expect(roughly(result)).toBeLessThanOrEqual(3072);
  expect(result[0]).toEqual(messages[0]);
  expect(result.at(-1)).toEqual(messages.at(-1));
  const summary = result.find((message) => message._engine_mark !== undefined);
  expect(summary?.role).toBe('user');
  expect(summary?.content).toContain('#W1000003');
});
