import { expect, test } from 'vitest';
import { isMessageList, sequenceFault } from '../../src/testing/sequence.js';
import { TRANSCRIPTS, testServices } from '../../src/testing/testing.js';

test('every transcript is a valid conversation, and none is a copy of another', () => {
  for (const { messages } of TRANSCRIPTS) {
    expect(isMessageList(messages())).toBe(true);
    expect(sequenceFault(messages())).toBeUndefined();
    expect(messages()).not.toBe(messages());
  }
  expect(new Set(TRANSCRIPTS.map(({ messages }) => JSON.stringify(messages()))).size).toBe(
    TRANSCRIPTS.length,
  );
});

const CALL = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] };
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '' });
const USER = { role: 'user', content: '' };

test.each([
  ['a result without a call', [USER, result('a')]],
  ['a result of another call', [USER, CALL, result('a'), result('x')]],
  ['a result too many', [USER, CALL, result('a'), result('b'), result('a')]],
  ['a result too few', [USER, CALL, result('a'), USER]],
  ['a result too few at the end', [USER, CALL, result('a')]],
  ['a result behind another message', [USER, CALL, USER, result('a'), result('b')]],
  ['a call twice with one result', [USER, { ...CALL, tool_calls: [{ id: 'a' }, { id: 'a' }] }, result('a')]],
  ['a role that the host refuses', [USER, { role: 'summary', content: '' }]],
  ['a system message behind the head', [USER, { role: 'system', content: '' }]],
] as const)('%s is no valid sequence', (_what, messages) => {
  expect(sequenceFault(messages)).toBeTypeOf('string');
});

test('test services answer as they are scripted, and keep what they are asked', async () => {
  const good = testServices();
  const ask = [{ role: 'user', content: 'x' }];
  expect((await good.complete(ask, { maxTokens: 5 })).text).not.toBe('');
  expect(good.asked).toEqual([{ messages: ask, options: { maxTokens: 5 } }]);
  await expect(testServices({ complete: 'empty' }).complete(ask, { maxTokens: 5 })).rejects.toMatchObject({
    failure: 'failed',
  });
  await expect(testServices({ complete: 'throwing' }).complete(ask, { maxTokens: 5 })).rejects.toMatchObject({
    failure: 'unavailable',
  });
  const controller = new AbortController();
  const hanging = testServices({ complete: 'hanging' }).complete(ask, {
    maxTokens: 5,
    signal: controller.signal,
  });
  controller.abort();
  await expect(hanging).rejects.toMatchObject({ name: 'CompletionError' });
  await good.store.set('a', { b: 1 });
  expect(await good.store.get('a')).toEqual({ b: 1 });
});
