import { expect, test } from 'vitest';
import { AnswerObserver } from '../../src/stream/answer-observer.js';
import { finalMessage } from '../../src/stream/final-message.js';

const sse = (events: readonly object[]) =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
const SAID = { role: 'assistant', content: 'All well.' };
const CALL = { type: 'tool_use', id: 't', name: 'look', input: {} };
const message = (content: object[], stop_reason: string) => ({ type: 'message', content, stop_reason });
const response = (output: object[], status = 'completed') => ({ object: 'response', output, status });
const item = { type: 'message', content: [{ type: 'output_text', text: 'All well.' }] };

test.each([
  [
    'a message',
    JSON.stringify(
      message(
        [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'All well.' },
        ],
        'end_turn',
      ),
    ),
  ],
  [
    'a stream of a message',
    sse([
      { type: 'message_start', message: message([], '') },
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'All ' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'well.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    ]),
  ],
  ['a response', JSON.stringify(response([{ type: 'reasoning', content: [] }, item]))],
  [
    'a stream of a response',
    sse([
      { type: 'response.output_text.delta', delta: 'All' },
      { type: 'response.completed', response: response([item]) },
    ]),
  ],
])('%s that ends a turn is its final message', (_what, text) => {
  expect(finalMessage(text)).toEqual(SAID);
});

test.each([
  ['a message with a call', JSON.stringify(message([CALL], 'tool_use'))],
  [
    'a stream with a call',
    sse([
      { type: 'content_block_start', content_block: CALL },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ]),
  ],
  ['a response with a call', JSON.stringify(response([item, { type: 'function_call', name: 'look' }]))],
  ['a response that is under way', JSON.stringify(response([item], 'in_progress'))],
  ['a stream that broke off', sse([{ type: 'content_block_delta', delta: { text: 'All' } }])],
])('%s is none', (_what, text) => {
  expect(finalMessage(text)).toBeUndefined();
});

test.each([
  [
    'a message',
    { type: 'message_delta', usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 3 } },
    7,
  ],
  [
    'a response',
    { type: 'response.completed', response: { usage: { input_tokens: 7, output_tokens: 3 } } },
    7,
  ],
])('the usage of %s is told in the words of a chat', (_what, event, prompt) => {
  const observer = new AnswerObserver(false);
  observer.onData(Buffer.from(sse([event])));
  expect(observer.usage).toMatchObject({
    prompt_tokens: prompt,
    completion_tokens: 3,
    total_tokens: prompt + 3,
  });
});
