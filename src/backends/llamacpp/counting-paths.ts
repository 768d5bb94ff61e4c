/** How requests of one generation endpoint are counted. */
export interface CountingPath {
  /** Behind the server's address. */
  readonly path: string;
  /** `request`: the endpoint takes the request as it is. `prompt`: it tokenizes the `prompt`. */
  readonly takes: 'request' | 'prompt';
}

export const CHAT = '/v1/chat/completions';

/** By the path of the generation endpoint. The only place that knows both. */
export const COUNTING_PATHS: ReadonlyMap<string, CountingPath> = new Map([
  [CHAT, { path: '/v1/chat/completions/input_tokens', takes: 'request' }],
  ['/v1/responses', { path: '/v1/responses/input_tokens', takes: 'request' }],
  ['/v1/messages', { path: '/v1/messages/count_tokens', takes: 'request' }],
  ['/v1/completions', { path: '/tokenize', takes: 'prompt' }],
]);

/** The address of a llama.cpp server, of which the URL of a counting endpoint may have been given. */
export function serverAddress(url: string): string {
  const bare = url.replace(/\/+$/, '');
  const ending = [...COUNTING_PATHS.values()].find(({ path }) => bare.endsWith(path));
  return (ending === undefined ? bare : bare.slice(0, -ending.path.length)).replace(/\/v1$/, '');
}
