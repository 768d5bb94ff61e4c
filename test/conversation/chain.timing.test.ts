import { expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { ChainReader } from '../../src/conversation/chain.js';

/** A hundred kilobytes in 139 messages, as agents send them. */
const messages: object[] = [{ role: 'system', content: 'You are an agent. '.repeat(200) }];
for (let i = 0; i < 46; i += 1) {
  const args = JSON.stringify({ path: `/src/a${i}.ts`, lines: [1, 2, 3] });
  const call = { id: `call_${i}`, type: 'function', function: { name: 'read_file', arguments: args } };
  messages.push({ role: 'user', content: `question ${i} ${'word \n "x" é '.repeat(20)}` });
  messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  messages.push({ role: 'tool', tool_call_id: call.id, content: 'line of code;\n'.repeat(100) });
}

const request = (count: number): RawObject =>
  RawObject.parse(Buffer.from(JSON.stringify({ messages: messages.slice(0, count) }))) as RawObject;
const whole = request(messages.length);
const shorter = request(messages.length - 2);

/** Milliseconds, in the middle of many. */
function median(prepare: () => () => unknown): number {
  const times = Array.from({ length: 400 }, () => {
    const run = prepare();
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[200] as number;
}

test('reads a hundred kilobytes in 1.5 ms, and what a conversation grew by in 0.1 ms', () => {
  const cold = median(() => () => new ChainReader().read('t', whole));
  const grown = median(() => {
    const reader = new ChainReader();
    reader.read('t', shorter);
    return () => reader.read('t', whole);
  });
  expect(cold).toBeLessThan(3 * 1.5);
  expect(grown).toBeLessThan(3 * 0.1);
});
