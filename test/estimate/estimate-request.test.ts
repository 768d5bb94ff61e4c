import { describe, expect, test } from 'vitest';
import { estimateTokens } from '../../src/estimate/estimate.js';
import { estimateRequest } from '../../src/estimate/estimate-request.js';

const chat = (...messages: unknown[]) => ({ messages });
const say = (content: unknown) => ({ role: 'user', content });
const PAGE = 'nothing of any interest. '.repeat(40);

test('a chat is estimated as ever', () => {
  for (const path of [undefined, '/v1/chat/completions', '/v1/somewhere']) {
    expect(estimateRequest(chat(say('hello')), path)).toBe(estimateTokens(chat(say('hello'))));
  }
});

describe('of a completion', () => {
  const estimate = (prompt: unknown) => estimateRequest({ prompt }, '/v1/completions');
  test('the largest prompt counts', () => {
    expect(estimate(['a', PAGE, 'b'])).toBe(estimate(PAGE));
    expect(estimate(PAGE)).toBeGreaterThan(150);
  });
  test('token ids are tokens', () => {
    expect(estimate([1, 2, 3])).toBe(3);
    expect(estimate([[1], [1, 2, 3, 4], [2, 3]])).toBe(4);
    expect(estimate([5, 'x', 6])).toBe(2 + estimate('x'));
  });
  test('nothing is at least one token', () => {
    for (const prompt of [undefined, null, [], '', 5]) expect(estimate(prompt)).toBeGreaterThan(0);
  });
});

describe('a response is estimated about as the chat that says the same', () => {
  const estimate = (request: object) => estimateRequest(request, '/v1/responses');
  test.each([
    ['a text', { input: PAGE }, chat(say(PAGE))],
    ['instructions', { instructions: PAGE, input: 'q' }, chat({ role: 'system', content: PAGE }, say('q'))],
    [
      'calls',
      {
        input: [
          { type: 'function_call', call_id: 'c', name: 'f', arguments: PAGE },
          { type: 'function_call_output', call_id: 'c', output: PAGE },
        ],
      },
      chat(
        { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: PAGE } }] },
        { role: 'tool', tool_call_id: 'c', content: PAGE },
      ),
    ],
  ])('%s', (_what, request, same) => {
    expect(estimate(request)).toBe(estimateTokens(same));
  });
  test('reasoning counts, and what of it is encrypted does not', () => {
    const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: PAGE }] };
    const least = estimate({ input: [reasoning] });
    expect(least).toBeGreaterThan(150);
    expect(estimate({ input: [{ ...reasoning, encrypted_content: PAGE.repeat(9) }] })).toBe(least);
  });
  test('what is of no known kind counts too', () => {
    expect(estimate({ input: [{ type: 'x', what: PAGE }, 'odd', 5, null] })).toBeGreaterThan(150);
  });
});

describe('a message in the form of Anthropic is estimated about as the chat that says the same', () => {
  const estimate = (request: object) => estimateRequest(request, '/v1/messages');
  test.each([
    [
      'a system prompt',
      { system: PAGE, messages: [say('q')] },
      chat({ role: 'system', content: PAGE }, say('q')),
    ],
    [
      'calls and results',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: PAGE } }] },
          say([{ type: 'tool_result', tool_use_id: 't', content: PAGE }]),
        ],
      },
      chat(
        { role: 'assistant', content: [], tool_calls: [{ function: { name: 'f', arguments: { a: PAGE } } }] },
        { role: 'tool', tool_call_id: 't', content: PAGE },
      ),
    ],
  ])('%s', (_what, request, same) => {
    expect(estimate(request)).toBe(estimateTokens(same));
  });
  test.each(['image', 'document'])('the bytes of %s are no text, in a result neither', (type) => {
    const part = { type, source: { type: 'base64', data: 'QUJD'.repeat(50_000) } };
    const result = { type: 'tool_result', tool_use_id: 't', content: [part] };
    expect(estimate({ messages: [say([part]), say([result])] })).toBeLessThan(3000);
  });
  test('a document of text is text, and thinking counts', () => {
    const document = { type: 'document', source: { type: 'text', data: PAGE } };
    expect(estimate({ messages: [say([document])] })).toBeGreaterThan(150);
    const thinking = { type: 'thinking', thinking: PAGE, signature: 's' };
    expect(estimate({ messages: [{ role: 'assistant', content: [thinking] }] })).toBeGreaterThan(150);
    const redacted = { type: 'redacted_thinking', data: PAGE };
    expect(estimate({ messages: [{ role: 'assistant', content: [redacted] }] })).toBeLessThan(100);
  });
});
