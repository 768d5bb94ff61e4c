import { asked, called, type Shapes, said, TOOL, text, used, WEATHER } from './chat-parts.js';

const HELLO = [said('hello there')];
const NUMBERS = [said('one two three four five six seven eight nine ten')];
const CITY = '{"city": "Paris"}';
const PARTIAL = [said('q'), { role: 'assistant', content: 'I am' }];
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const between = (message: object): object[] => [said('q'), message, said('z')];
const thought = (message: object): object[] => [
  said('a'),
  { role: 'assistant', content: 'b', ...message },
  { role: 'tool', content: 'c', tool_call_id: 'x' },
];
const words = (count: number): object[] => [said('word '.repeat(count))];

/** The shapes of `parity-0.32.tsv`, in its order: what each is about, as it is sent but for model and cap. */
export const PARITY_SHAPES: Shapes = {
  plain: asked(HELLO),
  system: asked([{ role: 'system', content: 'be brief' }, said('hi')]),
  'mid-system': asked([
    said('hi'),
    { role: 'assistant', content: 'yo' },
    { role: 'system', content: 'new rule' },
    said('go'),
  ]),
  'two-systems': asked([{ role: 'system', content: 'a' }, { role: 'system', content: 'b' }, said('hi')]),
  'multi-turn': asked([
    { role: 'system', content: 'a' },
    said('q'),
    { role: 'assistant', content: 'r' },
    said('q2'),
    { role: 'assistant', content: 'r2' },
    said('q3'),
  ]),
  'tools-auto': asked(HELLO, { tools: [WEATHER] }),
  'tools-choice-auto': asked(HELLO, { tools: [WEATHER], tool_choice: 'auto' }),
  'tools-choice-none': asked(HELLO, { tools: [WEATHER], tool_choice: 'none' }),
  'tools-choice-required': asked(HELLO, { tools: [WEATHER], tool_choice: 'required' }),
  'tools-choice-named': asked(HELLO, {
    tools: [WEATHER],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
  }),
  'tools-empty': asked(HELLO, { tools: [] }),
  'tools-null': asked(HELLO, { tools: null }),
  'tools-extra': asked(HELLO, {
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Get weather',
          strict: true,
          parameters: WEATHER.function.parameters,
        },
        defer_loading: false,
        x_custom: 1,
      },
    ],
  }),
  'tools-nodesc': asked(HELLO, { tools: [TOOL] }),
  'tools-2': asked(HELLO, { tools: [WEATHER, TOOL] }),
  'tools-parallel-false': asked(HELLO, { tools: [WEATHER], parallel_tool_calls: false }),
  'functions-legacy': asked(HELLO, { functions: [WEATHER.function], function_call: 'auto' }),
  'tool-roles': asked(used(CITY), { tools: [WEATHER] }),
  'tool-roles-notools': asked(used(CITY)),
  'tool-args-badjson': asked(used('{bad json'), { tools: [WEATHER] }),
  'tool-args-empty': asked(used(''), { tools: [WEATHER] }),
  'tool-args-unicode': asked([
    said('q'),
    called('c', 'f', '{"x":"é  \\u00e9",  "b":1.0}'),
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
  ]),
  'assistant-tc-empty-list': asked(between({ role: 'assistant', content: 'x', tool_calls: [] })),
  'assistant-content-null': asked(between({ role: 'assistant', content: null })),
  'assistant-last': asked([said('q'), { role: 'assistant', content: 'partial ans' }]),
  'tool-content-parts': asked([
    said('weather?'),
    called('call_1', 'get_weather', CITY),
    { role: 'tool', tool_call_id: 'call_1', content: [text('sunny'), text('warm')] },
  ]),
  documents: asked(HELLO, { documents: [{ title: 't', text: 'long doc text here' }] }),
  'response_format-json_object': asked(HELLO, { response_format: { type: 'json_object' } }),
  'response_format-json_schema': asked(HELLO, {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'x', schema: { type: 'object', properties: { a: { type: 'string' } } } },
    },
  }),
  cfm: asked(PARTIAL, { continue_final_message: true, add_generation_prompt: false }),
  'cfm-agp-unset': asked(PARTIAL, { continue_final_message: true }),
  'agp-false': asked(HELLO, { add_generation_prompt: false }),
  add_special_tokens: asked(HELLO, { add_special_tokens: true }),
  'reasoning_effort-none': asked(HELLO, { reasoning_effort: 'none' }),
  'reasoning_effort-low': asked(HELLO, { reasoning_effort: 'low' }),
  'reasoning_effort-high': asked(HELLO, { reasoning_effort: 'high' }),
  'kw-thinking-false': asked(HELLO, { chat_template_kwargs: { enable_thinking: false } }),
  'kw-thinking-false+effort-high': asked(HELLO, {
    chat_template_kwargs: { enable_thinking: false },
    reasoning_effort: 'high',
  }),
  'kw-agp-override': asked(HELLO, { chat_template_kwargs: { add_generation_prompt: false } }),
  'kw-tools-override': asked(HELLO, { chat_template_kwargs: { tools: [{ a: 1 }] } }),
  chat_template: asked(HELLO, { chat_template: '{% for m in messages %}{{ m.content }}{% endfor %}' }),
  reasoning_content: asked(thought({ reasoning_content: 'because of x' })),
  reasoning: asked(thought({ reasoning: 'because of x' })),
  'both-reasoning': asked(thought({ reasoning: 'because of x', reasoning_content: 'other long text here' })),
  'parts-text': asked([{ role: 'user', content: [text('hello'), text('there')] }]),
  'parts-image': asked([
    { role: 'user', content: [text('hello'), { type: 'image_url', image_url: { url: PIXEL } }] },
  ]),
  'parts-empty-list': asked([{ role: 'user', content: [] }]),
  developer: asked([{ role: 'developer', content: 'be brief' }, said('hi')]),
  'role-unknown': asked([{ role: 'wizard', content: 'hi' }, said('hi')]),
  name: asked([{ role: 'user', name: 'bob', content: 'hi' }]),
  'no-model': asked([said('hi')], { model: undefined }),
  'user-content-missing': asked([{ role: 'user' }]),
  truncate_prompt_tokens: asked(NUMBERS, { truncate_prompt_tokens: 8 }),
  'truncate_prompt_tokens-left': asked(NUMBERS, { truncate_prompt_tokens: 8, truncation_side: 'left' }),
  n2: asked(HELLO, { n: 2 }),
  echo: asked([said('q'), { role: 'assistant', content: 'partial' }], { echo: true }),
  unicode: asked([said('héllo 你好 👩‍👩‍👧 \u200b\ufeff end')]),
  whitespace: asked([said('  \n\n\t a  \r\n b ')]),
  'specials-in-text': asked([said('<|im_end|> <|im_start|>system <think> </think> <|endoftext|>')]),
  'think-in-assistant': asked([
    said('q'),
    { role: 'assistant', content: '<think>secret thoughts</think>answer' },
    said('next'),
  ]),
  cache_salt: asked(HELLO, { cache_salt: 'abc' }),
  structured_outputs: asked(HELLO, { structured_outputs: { choice: ['a', 'b'] } }),
  'stop-etc': asked(HELLO, { stop: ['x'], seed: 3, logit_bias: { 5: -100 }, user: 'u', temperature: 0 }),
  'prompt-field-too': asked(HELLO, { prompt: 'this is a long other prompt' }),
  max_completion_tokens: asked(HELLO, { max_tokens: undefined, max_completion_tokens: 1 }),
  'stream_options-null': asked(HELLO, { stream_options: null }),
  mm_processor_kwargs: asked(HELLO, { mm_processor_kwargs: { a: 1 } }),
  'long-4000': asked(words(4000)),
  'exact-max': asked(words(4087)),
  over: asked(words(4200)),
  'over-truncate': asked(words(4200), { truncate_prompt_tokens: 4095 }),
};
