import type { Shapes } from './chat-parts.js';

const asked = (prompt: unknown, more: object = {}): string =>
  JSON.stringify({ model: 'tiny', max_tokens: 1, prompt, ...more });

/** Requests of one token to Completions, by what is particular. */
export const COMPLETION_SHAPES: Shapes = {
  text: asked('hello there'),
  'text: one token': asked('hi'),
  'text: several scripts': asked('Grüße, мир, 世界 👩‍👩‍👧‍👦 e\u0301'),
  'text: control tokens': asked('<|im_start|>user\nhi<|im_end|>\n<think>'),
  'text: white space': asked(' \n\t a  \r\n'),
  'text: long': asked('word '.repeat(3000)),
  'text: fills the context': asked('word '.repeat(4095).trimEnd()),
  'text: too long': asked('word '.repeat(4200)),
  'text: lone surrogate': '{"model":"tiny","max_tokens":1,"prompt":"a \\ud83d b"}',
  'text: empty': asked(''),
  'texts: one': asked(['hello there']),
  'texts: two': asked(['hello there', 'one two three']),
  'texts: equal': asked(['hi', 'hi']),
  'texts: none': asked([]),
  ids: asked([14990, 1052]),
  'ids: as floats': '{"model":"tiny","max_tokens":1,"prompt":[14990.0,1052]}',
  'ids: out of the vocabulary': asked([99_999_999]),
  'ids: too many': asked(Array.from({ length: 4200 }, () => 14990)),
  'ids: lists of them': asked([[14990, 1052], [606]]),
  'ids: among texts': asked(['a', [1]]),
  'prompt: null': asked(null),
  'prompt: absent': JSON.stringify({ model: 'tiny', max_tokens: 1 }),
  'prompt: an object': asked({ text: 'hi' }),
  'special tokens: none': asked('hello there', { add_special_tokens: false }),
  'special tokens: asked for': asked('hello there', { add_special_tokens: true }),
  'truncated: text': asked('one two three four five', { truncate_prompt_tokens: 3 }),
  'truncated: ids': asked([14990, 1052, 606], { truncate_prompt_tokens: 2 }),
  'truncated: -1': asked('hello there', { truncate_prompt_tokens: -1 }),
  'truncated: right': asked('one two three', { truncate_prompt_tokens: 2, truncation_side: 'right' }),
  'answer: several': asked('hello there', { n: 2 }),
  'answer: echoed': asked('hello there', { echo: true }),
  'answer: logprobs': asked('hello there', { logprobs: 1, echo: true }),
  'answer: suffix': asked('hello there', { suffix: 'yo' }),
  'answer: best_of': asked('hello there', { best_of: 2 }),
  'messages beside': asked('hello there', { messages: [{ role: 'user', content: 'a longer text' }] }),
  'model: absent': JSON.stringify({ prompt: 'hello there', max_tokens: 1 }),
  'model: unknown': asked('hello there', { model: 'nope' }),
  'transfer: prompt ids': asked('hello there', {
    kv_transfer_params: { prompt_token_ids: [14990, 1052, 606] },
  }),
};

/** Usage adds up all prompts; what has to fit is the largest. */
export const LARGEST_PROMPT: Readonly<Record<string, number>> = {
  'texts: two': 3,
  'texts: equal': 1,
  'ids: lists of them': 2,
};
