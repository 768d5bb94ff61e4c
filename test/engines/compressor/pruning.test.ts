import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { resultFacts } from '../../../src/engines/compressor/said-facts.js';
import { shortArguments } from '../../../src/engines/compressor/short-arguments.js';
import { ToldResult } from '../../../src/engines/compressor/tool-line.js';
import { build, roughly } from './support/build.js';
import { run } from './support/invariants.js';

const user = (content: unknown): Message => ({ role: 'user', content });
const assistant = (content: unknown): Message => ({ role: 'assistant', content });
const filling = 'plain words without any meaning '.repeat(120);

function calling(name: string, args: object, content: unknown, id = 'call_0'): Message[] {
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ];
}

async function pruned(group: Message[]): Promise<{ result: Message[]; calls: number }> {
  const messages = [user('start'), ...group, assistant('so'), user('on'), assistant('well'), user('last')];
  const built = build({ protectFirstN: 0, options: { tail_share: 0.01 } });
  const { result = [] } = await run(built, structuredClone(messages), Math.floor(roughly(messages) * 0.74));
  return { result, calls: built.calls.length };
}

test('an old result becomes one line that says what it was, and no model is asked', async () => {
  const { result, calls } = await pruned(
    calling('terminal', { command: 'npm test' }, `exit_code: 1\n${filling}\nfailed at src/a.ts\n`),
  );
  expect(calls).toBe(0);
  const line = result.find(({ role }) => role === 'tool')?.content;
  expect(line).toMatch(/^\[terminal\(npm test\) -> [\d,]+ chars, 4 lines, exit code 1: .*src\/a\.ts.*\]$/);
  expect(result).toHaveLength(7);
});

test('ids that are used again name the nearest call', async () => {
  const { result } = await pruned([
    ...calling('read_file', { path: 'one.md' }, `1 ${filling}`),
    ...calling('read_file', { path: 'two.md' }, `2 ${filling}`),
  ]);
  const lines = result.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  expect(lines[0]).toContain('one.md');
  expect(lines[1]).toContain('two.md');
});

test('a result is not that of an earlier call with its id that nobody answered', async () => {
  const [open] = calling('read_file', { path: 'one.md' }, '');
  const { result } = await pruned([
    open as Message,
    user('And two?'),
    ...calling('read_file', { path: 'two.md' }, `2 ${filling}`),
  ]);
  const line = String(result.find(({ role }) => role === 'tool')?.content);
  expect(line).toContain('two.md');
  expect(line).not.toContain('one.md');
});

test('a result in parts stays in parts', async () => {
  const { result } = await pruned(calling('look', {}, [{ type: 'text', text: filling }]));
  expect(result.find(({ role }) => role === 'tool')?.content).toEqual([
    { type: 'text', text: expect.stringMatching(/^\[look\(\) -> /) },
  ]);
});

test('old images become placeholders, the newest request keeps its own', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const messages = [user([image]), assistant('A cat.'), user([image, { type: 'text', text: 'And this?' }])];
  const built = build({ protectFirstN: 0, options: { tail_share: 0.01 } });
  const { result } = await run(built, structuredClone(messages), Math.floor(roughly(messages) * 0.7));
  expect(result?.[0]?.content).toEqual([{ type: 'text', text: '[image]' }]);
  expect(result?.at(-1)).toEqual(messages.at(-1));
  expect(built.calls).toHaveLength(0);
});

test.each([
  ['long members', JSON.stringify({ path: 'a.txt', content: 'x'.repeat(3000) })],
  ['too many members', JSON.stringify({ rows: Array.from({ length: 900 }, (_, i) => i) })],
  ['what is no JSON', `{"path": ${'y'.repeat(3000)}`],
])('arguments with %s are cut and stay a JSON object', (_, args) => {
  const shorter = shortArguments(args);
  expect(shorter.length).toBeLessThan(1000);
  expect(JSON.parse(shorter)).toBeTypeOf('object');
});

test('old calls lose their long arguments, and no model is asked', async () => {
  const { result, calls } = await pruned(
    calling('write_file', { path: 'a.md', content: filling }, 'Written.'),
  );
  expect(calls).toBe(0);
  const args = argumentsIn(result);
  expect(JSON.parse(args)).toMatchObject({
    path: 'a.md',
    content: expect.stringContaining('more characters'),
  });
  expect(args.length).toBeLessThan(500);
});

test('a call that alone is bigger than the target is shortened once it was answered, its result stays', async () => {
  const content = filling.repeat(4);
  const group = calling('write_file', { path: 'a.md', content }, 'Written: 4 copies.');
  const messages = [user('start'), assistant('so'), user('Write it.'), ...group];
  const built = build({ contextLength: 4096 });
  const { result = [] } = await run(built, structuredClone(messages), 1200);
  expect(roughly(result)).toBeLessThanOrEqual(1200);
  expect(result.at(-1)).toEqual(messages.at(-1));
  expect(JSON.parse(argumentsIn(result))).toMatchObject({ path: 'a.md' });
});

test('so do parallel calls of which only one was answered', async () => {
  const [first, result] = calling(
    'write_file',
    { path: 'a.md', content: filling.repeat(4) },
    'Written.',
    'one',
  );
  const [second] = calling('write_file', { path: 'b.md', content: filling.repeat(4) }, '', 'two');
  const calls = [first, second].flatMap((message) => message?.tool_calls);
  const messages = [
    user('start'),
    assistant('so'),
    user('Write them.'),
    { ...first, tool_calls: calls },
    result,
  ];
  const outcome = await run(build({ contextLength: 4096 }), structuredClone(messages) as Message[], 1200);
  expect(outcome.error).toMatchObject({ name: 'IrreducibleError' });
});

test('a call that nobody has answered yet keeps its arguments', async () => {
  const [call] = calling('write_file', { path: 'a.md', content: filling.repeat(4) }, '');
  const messages = [user('start'), assistant('so'), user('Write it.'), call as Message];
  const outcome = await run(build({ contextLength: 4096 }), structuredClone(messages), 1200);
  expect(outcome.error).toMatchObject({ name: 'IrreducibleError' });
});

test('sizes and cuts that the engine told of a result are no facts of it', () => {
  const facts = (text: string) => resultFacts(new ToldResult(text)).map((fact) => fact.text);
  expect(
    facts('[bash(grep -rn thing src) -> 64,958 chars, 1479 lines, exit code 2: AB1234, src/a.ts]'),
  ).toEqual(['AB1234', 'src/a.ts']);
  expect(facts('[bash(ls) -> 64,958 chars, 1479 lines]')).toEqual([]);
  expect(facts('order AB1234\n[12,700 characters left out]\nexit')).toEqual(['AB1234']);
  expect(facts('[bash(ls) -> 64,958 chars, 1479 lines, the same as a later result]')).toEqual([]);
  expect(facts('{"path":"a.md","content":"text... [21400 more characters]"}').join()).not.toContain('21400');
});

function argumentsIn(messages: readonly Message[]): string {
  const calling = messages.find(({ tool_calls: calls }) => calls !== undefined);
  return String(Object(calling?.tool_calls)[0].function.arguments);
}
