import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { run } from './support/invariants.js';

const LENGTH = 120_000;

// Work that grows with the square of a length would take hours here.
test.each([
  ['one word', 'w'],
  ['a word with points', 'a.'],
  ['a list of digits', '1,'],
  ['digits', '9'],
  ['hyphens', 'a-'],
  ['blanks behind a bracket', ' '],
  ['line breaks', '\n'],
  ['quotes', '"'],
  ['stops', '. '],
  ['paths', 'a/'],
])('a text of any length is told in a pass, whatever it is made of: %s', async (_name, piece) => {
  const text = `[${piece.repeat(LENGTH / piece.length)}`;
  const calls = [{ id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } }];
  const messages: Message[] = [
    { role: 'user', content: text },
    { role: 'assistant', content: text },
    { role: 'user', content: 'Read it.' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'c', content: text },
    { role: 'assistant', content: 'It says nothing.' },
    { role: 'user', content: 'And now?' },
  ];
  const { result } = await run(build(), messages, Math.floor(roughly(messages) / 10));
  expect(result?.at(-1)).toEqual(messages.at(-1));
});
