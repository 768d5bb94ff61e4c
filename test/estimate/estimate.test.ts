import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/estimate/estimate.js';
import { IMAGE_TOKENS, MEDIA_TOKENS } from '../../src/estimate/message-tokens.js';
import { CORPUS } from './corpus.js';

const ofMessage = (fields: object) => estimateTokens({ messages: [{ role: 'user', ...fields }] });
const SENTENCE = 'A sentence of seven or eight words.';
const BASE64 = Buffer.alloc(300_000, 'q7').toString('base64');

describe('estimateTokens', () => {
  it.each([
    ['text content', { content: SENTENCE }],
    ['text parts', { content: [{ type: 'text', text: SENTENCE }] }],
    ['plain string parts', { content: [SENTENCE] }],
    ['a refusal', { refusal: SENTENCE }],
    ['a name', { name: SENTENCE }],
    ['reasoning', { reasoning: SENTENCE }],
    ['reasoning under its older name', { reasoning_content: SENTENCE }],
    ['a tool call’s name', { tool_calls: [{ function: { name: SENTENCE } }] }],
    ['a tool call’s arguments', { tool_calls: [{ function: { name: 't', arguments: SENTENCE } }] }],
    [
      'arguments sent as an object',
      { tool_calls: [{ function: { name: 't', arguments: { a: SENTENCE } } }] },
    ],
    ['a function call of the older kind', { function_call: { name: 't', arguments: SENTENCE } }],
  ])('counts %s', (_, fields) => {
    const less = JSON.parse(JSON.stringify(fields).replace(SENTENCE, ''));
    expect(ofMessage(fields) - ofMessage(less)).toBeGreaterThanOrEqual(8);
  });

  // BerriAI/litellm#32899, openai/tiktoken#474 (bug case 17)
  it('counts the tools, whether they come as tools, as functions, or as documents', () => {
    const schema = { description: SENTENCE.repeat(10), name: 'x' };
    for (const extra of [
      { tools: [{ type: 'function', function: schema }] },
      { functions: [schema] },
      { documents: [schema] },
      { chat_template_kwargs: { documents: [schema] } },
    ]) {
      expect(estimateTokens({ messages: [], ...extra })).toBeGreaterThan(
        estimateTokens({ messages: [] }) + 80,
      );
    }
    expect(estimateTokens({ messages: [], tools: [] })).toBe(estimateTokens({ messages: [] }));
  });

  // vllm-project/vllm#20778 (bug case 19)
  it.each([
    ['image_url', { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } }, IMAGE_TOKENS],
    ['input_image', { type: 'input_image', image_url: `data:image/png;base64,${BASE64}` }, IMAGE_TOKENS],
    ['an image without a type', { image_url: { url: BASE64 } }, IMAGE_TOKENS],
    ['input_audio', { type: 'input_audio', input_audio: { data: BASE64, format: 'wav' } }, MEDIA_TOKENS],
    ['video_url', { type: 'video_url', video_url: { url: BASE64 } }, MEDIA_TOKENS],
    ['file', { type: 'file', file: { file_data: BASE64 } }, MEDIA_TOKENS],
  ])('counts a fixed cost for %s, never its base64', (_, part, tokens) => {
    const text = { type: 'text', text: 'x' };
    const without = ofMessage({ content: [text] });
    expect(ofMessage({ content: [text, part] }) - without).toBeGreaterThanOrEqual(tokens);
    expect(ofMessage({ content: [text, part] }) - without).toBeLessThanOrEqual(tokens + 4);
    expect(ofMessage({ content: [text, part, part] }) - without).toBeGreaterThanOrEqual(2 * tokens);
  });

  it.each(['message_uid', '_absorbed_message_uids', '_tool_call_uids', '_tool_call_uid', 'anything_unknown'])(
    'ignores %s',
    (field) => {
      expect(ofMessage({ content: 'hi', [field]: [SENTENCE.repeat(50)] })).toBe(ofMessage({ content: 'hi' }));
    },
  );

  it('grows with every message', () => {
    const message = { role: 'user', content: 'hi' };
    const one = estimateTokens({ messages: [message] });
    expect(estimateTokens({ messages: [message, message] }) - one).toBeGreaterThanOrEqual(6);
  });

  it('is a whole number of at least one, whatever the value', () => {
    for (const value of [
      undefined,
      null,
      0,
      '',
      [],
      {},
      true,
      { messages: 5 },
      { messages: [null, [], 7, 'x'] },
    ]) {
      expect(estimateTokens(value)).toBeGreaterThanOrEqual(1);
    }
    const message = fc.dictionary(
      fc.constantFrom('role', 'content', 'tool_calls', 'function_call', 'reasoning', 'name', '__proto__'),
      fc.jsonValue(),
    );
    const request = fc.dictionary(
      fc.constantFrom('messages', 'tools', 'functions', 'documents', 'chat_template_kwargs', '__proto__'),
      fc.oneof(fc.jsonValue(), fc.array(message)),
    );
    fc.assert(
      fc.property(fc.oneof(request, fc.jsonValue()), (value) => {
        const tokens = estimateTokens(value);
        return Number.isSafeInteger(tokens) && tokens >= 1;
      }),
      { numRuns: 200 },
    );
  });

  it.each(['messages', 'tools', 'documents', 'chat_template_kwargs'])(
    'counts values of a wrong type: %s',
    (field) => {
      const wrong = field === 'chat_template_kwargs' ? { documents: SENTENCE } : { text: SENTENCE };
      expect(estimateTokens({ [field]: wrong })).toBeGreaterThan(estimateTokens({ messages: [] }) + 7);
      expect(ofMessage({ content: { some: SENTENCE } })).toBeGreaterThan(ofMessage({}) + 7);
      expect(ofMessage({ tool_calls: SENTENCE })).toBeGreaterThan(ofMessage({}) + 7);
      expect(ofMessage({ tool_calls: [SENTENCE] })).toBeGreaterThan(ofMessage({}) + 7);
    },
  );

  it('takes nesting of any depth in linear time', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`);
    const started = performance.now();
    for (const request of [{ tools: [deep] }, { messages: [{ content: deep }] }, { messages: deep }]) {
      expect(estimateTokens(request)).toBeGreaterThan(100_000);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('takes time in proportion to the text', () => {
    const text = Object.values(CORPUS).join('\n');
    const measure = (times: number) => {
      const request = { messages: [{ role: 'user', content: text.repeat(times) }] };
      const started = performance.now();
      estimateTokens(request);
      return performance.now() - started;
    };
    measure(20);
    // Bounds far above what it takes: a quadratic pass would need minutes.
    expect(measure(400)).toBeLessThan(5_000);
    expect(estimateTokens({ messages: [{ role: 'user', content: 'a'.repeat(10_000_000) }] })).toBeGreaterThan(
      1e6,
    );
  });
});
