/** A request by which a server's count is compared with its usage. */
export interface DeepShape {
  readonly name: string;
  readonly path: string;
  /** Without the model. */
  readonly body: Readonly<Record<string, unknown>>;
}

const HELLO = { role: 'user', content: 'hello there' };
const FUNCTION = {
  name: 'get_weather',
  description: 'Get the weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Its name.' }, days: { type: 'integer', default: 1 } },
    required: ['city'],
  },
};
const TOOLS = [{ type: 'function', function: FUNCTION }];
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city": "Berlin"}' },
};
const ASKED = { role: 'user', content: 'What is the weather in Berlin?' };
const CALLED = { role: 'assistant', content: null, tool_calls: [CALL] };
const FOUND = { role: 'tool', tool_call_id: 'call_1', content: '{"temperature": 21}' };
const SCHEMA = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
/** One pixel. */
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WORDS = 'The quick brown fox jumps over the lazy dog. '.repeat(60);

const chats: Readonly<Record<string, Record<string, unknown>>> = {
  plain: { messages: [HELLO] },
  'system prompt': { messages: [{ role: 'system', content: 'You are brief.' }, HELLO] },
  'developer prompt': { messages: [{ role: 'developer', content: 'You are brief.' }, HELLO] },
  'several turns': {
    messages: [HELLO, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'And you?' }],
  },
  'long text': { messages: [{ role: 'user', content: WORDS }] },
  'unicode and special tokens': {
    messages: [{ role: 'user', content: 'naïve 日本語 🙂 <|im_end|> </s> [INST]' }],
  },
  'text parts': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hello' },
          { type: 'text', text: 'you' },
        ],
      },
    ],
  },
  'named user': { messages: [{ ...HELLO, name: 'ada' }] },
  tools: { messages: [ASKED], tools: TOOLS },
  'tool_choice none': { messages: [ASKED], tools: TOOLS, tool_choice: 'none' },
  'tool_choice required': { messages: [ASKED], tools: TOOLS, tool_choice: 'required' },
  'tool results': { messages: [ASKED, CALLED, FOUND], tools: TOOLS },
  'tool results without tools': { messages: [ASKED, CALLED, FOUND] },
  reasoning: { messages: [ASKED, { ...CALLED, reasoning: 'It has to be looked up.' }, FOUND], tools: TOOLS },
  reasoning_content: {
    messages: [ASKED, { ...CALLED, reasoning_content: 'It has to be looked up.' }, FOUND],
    tools: TOOLS,
  },
  'reasoning_effort low': { messages: [HELLO], reasoning_effort: 'low' },
  'reasoning_effort none': { messages: [HELLO], reasoning_effort: 'none' },
  'thinking switched off': { messages: [HELLO], chat_template_kwargs: { enable_thinking: false } },
  documents: { messages: [HELLO], documents: [{ title: 'A title', text: 'A text.' }] },
  'continued answer': {
    messages: [HELLO, { role: 'assistant', content: 'Hello, I' }],
    add_generation_prompt: false,
    continue_final_message: true,
  },
  'JSON schema': {
    messages: [HELLO],
    response_format: { type: 'json_schema', json_schema: { name: 'reply', schema: SCHEMA } },
  },
  'truncated prompt': { messages: [{ role: 'user', content: WORDS }], truncate_prompt_tokens: 32 },
  image: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: IMAGE } },
        ],
      },
    ],
  },
};

const completions: Readonly<Record<string, Record<string, unknown>>> = {
  text: { prompt: 'Once upon a time' },
  'token ids': { prompt: [1, 2, 3, 4] },
};

const responses: Readonly<Record<string, Record<string, unknown>>> = {
  text: { input: 'hello there' },
  'instructions and items': { instructions: 'You are brief.', input: [HELLO] },
  tools: { input: [ASKED], tools: [{ type: 'function', ...FUNCTION }] },
};

const messages: Readonly<Record<string, Record<string, unknown>>> = {
  plain: { messages: [HELLO] },
  'system prompt and tools': {
    system: 'You are brief.',
    messages: [ASKED],
    tools: [{ name: FUNCTION.name, description: FUNCTION.description, input_schema: FUNCTION.parameters }],
  },
  'thinking disabled': { messages: [HELLO], thinking: { type: 'disabled' } },
};

/** One token is generated for each. */
export const DEEP_SHAPES: readonly DeepShape[] = [
  ...shapesOf('chat', '/v1/chat/completions', 'max_tokens', chats),
  ...shapesOf('completions', '/v1/completions', 'max_tokens', completions),
  ...shapesOf('responses', '/v1/responses', 'max_output_tokens', responses),
  ...shapesOf('messages', '/v1/messages', 'max_tokens', messages),
];

function shapesOf(
  endpoint: string,
  path: string,
  cap: string,
  bodies: Readonly<Record<string, Record<string, unknown>>>,
): DeepShape[] {
  return Object.entries(bodies).map(([name, body]) => ({
    name: `${endpoint}: ${name}`,
    path,
    body: { ...body, [cap]: 1 },
  }));
}
