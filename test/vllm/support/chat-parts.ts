/** Chat requests by what is particular about them, as raw JSON. */
export type Shapes = Readonly<Record<string, string>>;

export const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;
export const TOOL = { type: 'function', function: { name: 'ping' } } as const;

/** A request of one token to `tiny`. */
export function asked(messages: readonly object[], more: object = {}): string {
  return JSON.stringify({ max_tokens: 1, model: 'tiny', messages, ...more });
}

export function said(content: unknown): object {
  return { role: 'user', content };
}

export function text(words: string): object {
  return { type: 'text', text: words };
}

export function called(id: string, name: string, args: unknown): object {
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  };
}

/** A tool was called with these arguments, answered, and the user went on. */
export function used(args: string): object[] {
  return [
    said('weather?'),
    called('call_1', 'get_weather', args),
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    said('thanks'),
  ];
}
