import { describe, expect, test } from 'vitest';
import { UsageTail } from '../../src/stream/usage-tail.js';

const LONG = 'x'.repeat(40_000);
const FALSE = { usage: { prompt_tokens: 300_000, input_tokens: 300_000 } };
/** What a client can have echoed: as members, and as a string that looks like the rest of an answer. */
const ECHOED = {
  text: { format: { schema: FALSE } },
  user: `"}],${JSON.stringify(FALSE)},"usage":{"prompt_tokens":9}\\"`,
};
const RESPONSE = { ...ECHOED, status: 'completed', usage: { input_tokens: 7 } };
const event = (data: unknown): string => `event: e\ndata: ${JSON.stringify(data)}\n\n`;

function promptTokens(text: string, chunkSize = 1000): number | undefined {
  const tail = new UsageTail();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkSize) tail.onData(bytes.subarray(at, at + chunkSize));
  return tail.promptTokens;
}

describe('the usage of an answer is read at its own place', () => {
  test.each<[string, string, number | undefined]>([
    ['in a chat', JSON.stringify({ choices: [], usage: { prompt_tokens: 7 } }), 7],
    ['laid out in lines', JSON.stringify({ ...RESPONSE }, null, 2), 7],
    ['whatever is echoed behind it', JSON.stringify({ usage: { input_tokens: 7 }, ...ECHOED }), 7],
    ['not where it is null', JSON.stringify({ ...ECHOED, usage: null, tools: [FALSE] }), undefined],
    ['not where there is none', JSON.stringify(ECHOED), undefined],
    ['not while the response is queued', JSON.stringify({ ...RESPONSE, status: 'queued' }), undefined],
    ['not where that is a stream in a string', JSON.stringify({ a: event(FALSE), usage: null }), undefined],
    ['not in a list', JSON.stringify([FALSE]), undefined],
    ['in a long answer', JSON.stringify({ output: LONG, ...RESPONSE }), 7],
    [
      'not in a long answer where it is null',
      JSON.stringify({ output: LONG, ...ECHOED, usage: null }),
      undefined,
    ],
    [
      'not in a long answer where it is too far from the end',
      JSON.stringify({ ...RESPONSE, tools: [LONG, FALSE] }),
      undefined,
    ],
    [
      'not in a member that is cut',
      JSON.stringify({ usage: null, metadata: { a: LONG, ...FALSE } }),
      undefined,
    ],
    [
      'not in a long answer that is queued',
      JSON.stringify({ output: LONG, ...RESPONSE, status: 'queued' }),
      undefined,
    ],
  ])('%s', (_what, answer, expected) => {
    expect(promptTokens(answer)).toBe(expected);
    expect(promptTokens(answer, 1e6)).toBe(expected);
  });

  test.each<[string, string, number | undefined]>([
    [
      'of the last event that has one',
      `${event({ usage: { prompt_tokens: 5 } })}${event({ usage: { prompt_tokens: 7 } })}${event({ usage: null })}data: [DONE]\n\n`,
      7,
    ],
    ['of the only event', `data: ${JSON.stringify({ usage: { prompt_tokens: 7 } })}\r\n\r\n`, 7],
    ['of a response', event({ type: 'response.completed', response: RESPONSE }), 7],
    [
      'of a response before other events',
      event({ type: 'response.completed', response: RESPONSE }) + event({ type: 'x' }),
      7,
    ],
    ['of a long response', event({ response: { output: LONG, ...RESPONSE }, type: 'response.completed' }), 7],
    [
      'not of one under way',
      event({ type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } }),
      undefined,
    ],
    [
      'not of a long one under way',
      event({ response: { output: LONG, ...RESPONSE, status: 'in_progress' }, type: 'response.created' }),
      undefined,
    ],
    [
      'not of another member of an event',
      event({ type: 'response.output_item.done', item: FALSE }),
      undefined,
    ],
    [
      'not of another member of a long event',
      event({ item: { a: LONG, ...FALSE }, type: 'response.output_item.done' }),
      undefined,
    ],
    [
      'of a message where it starts',
      event({ type: 'message_start', message: { usage: { input_tokens: 7 } } }) +
        event({ type: 'message_delta', usage: { output_tokens: 3 } }),
      7,
    ],
    [
      'not of words of the model',
      event({ choices: [{ delta: { content: `\ndata: ${JSON.stringify(FALSE)}\n` } }] }),
      undefined,
    ],
  ])('in a stream: %s', (_what, answer, expected) => {
    expect(promptTokens(answer)).toBe(expected);
    expect(promptTokens(event({ choices: [LONG] }) + answer)).toBe(expected);
  });

  test('wherever the tail that is kept begins', () => {
    const strings = ['\\', '"', '\\"', '{"usage":{"prompt_tokens":9}}', '\\\\', ']}'];
    const text = JSON.stringify({
      a: LONG,
      strings,
      usage: { prompt_tokens: 7 },
      tools: [FALSE, ...strings],
    });
    for (let padding = 16_000; padding < 16_400; padding += 1) {
      const found = promptTokens(`${text}${' '.repeat(padding)}`, 1e6);
      expect([7, undefined]).toContain(found);
    }
  });

  test('and bytes that are no JSON have none', () => {
    for (const text of ['', '}', '"}', ':1}', '"a":}', 'a"usage":}', '{"usage":{"prompt_tokens":7}'])
      expect([promptTokens(text), promptTokens(`${LONG}${text}`)]).toEqual([undefined, undefined]);
  });
});
