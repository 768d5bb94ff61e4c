import { expect, test } from 'vitest';
import { describeBoth } from '../support/behind-proxy.js';
import { type Answer, ask, stream } from '../support/chat.js';
import { describeServers, type Server } from '../support/servers.js';

const TOOLS = [
  {
    type: 'function',
    function: { name: 'ping', parameters: { type: 'object', properties: { mode: { type: 'string' } } } },
  },
];
const ARGUMENTS = '{"mode": "a"}';
const CALL = `<tool_call>\n{"name": "ping", "arguments": ${ARGUMENTS}}\n</tool_call>`;
const CALLED = { function: { name: 'ping', arguments: ARGUMENTS } };

/** A request that a model, even of random weights, can answer in one way only. */
const answering = (text: string, more: object = {}): object => ({
  messages: [{ role: 'user', content: 'hello there' }],
  max_tokens: 100,
  temperature: 0,
  structured_outputs: { regex: text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') },
  ...more,
});

async function firstChoice(server: Server, body: object): Promise<Answer['choices'][number] | undefined> {
  return (await ask(server, body)).choices[0];
}

describeServers('plain', (server) => {
  describeBoth(server, (asked) => {
    test('a call that the model writes is answered as a call', async () => {
      expect(await firstChoice(asked, answering(CALL, { tools: TOOLS }))).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: null, tool_calls: [CALLED] },
      });
    });

    test('what is said before it stays content, and two calls are two', async () => {
      const answer = await firstChoice(asked, answering(`Let me see. ${CALL}\n${CALL}`, { tools: TOOLS }));
      expect(answer).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: 'Let me see. ', tool_calls: [CALLED, CALLED] },
      });
    });

    test('without tools the same words are content', async () => {
      const answer = await firstChoice(asked, answering(CALL));
      expect(answer).toMatchObject({ finish_reason: 'stop', message: { content: CALL } });
    });

    test('a streamed call has its name and id first, its arguments in pieces, and the reason at the end', async () => {
      const { chunks, events } = await stream(asked, answering(CALL, { tools: TOOLS }));
      const choices = chunks.flatMap((chunk) => chunk.choices);
      const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
      expect(calls[0]).toMatchObject({ index: 0, function: { name: 'ping' } });
      expect(calls[0]?.id).toMatch(/^chatcmpl-tool-/);
      // 0.16 streams the line end behind them too.
      expect(
        calls
          .map((call) => call.function.arguments ?? '')
          .join('')
          .trimEnd(),
      ).toBe(ARGUMENTS);
      expect(choices.at(-1)?.finish_reason).toBe('tool_calls');
      expect(events.at(-1)).toBe('[DONE]');
    });

    test('a text streams as it is answered whole', async () => {
      const body = answering('Hello there, friend.');
      const { chunks } = await stream(asked, body);
      const pieces = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''));
      expect(pieces.join('')).toBe('Hello there, friend.');
      expect(await firstChoice(asked, body)).toMatchObject({
        finish_reason: 'stop',
        message: { content: 'Hello there, friend.' },
      });
    });
  });
});
