import { counted, json, listen, type Stub } from './tokenizer-stub.js';

export const OPEN = { configured: false, contextLength: undefined } as const;

/** A vLLM that counts a text by its length, messages in Anthropic's form as 14, and all else as 12. */
export function vllmServer(version = '0.32.0'): Promise<Stub> {
  return listen((answer, { path, body }) => {
    if (path === '/version') return json(answer, { version });
    if (path === '/v1/messages/count_tokens') return json(answer, { input_tokens: 14 });
    const { prompt } = JSON.parse(body);
    return counted(answer, typeof prompt === 'string' ? prompt.length : 12);
  }, null);
}
