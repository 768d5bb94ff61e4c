import { readFileSync } from 'node:fs';
import { RawObject } from '../../../src/body/raw-object.js';
import { canonical } from './canonical-json.js';

export interface Recorded {
  readonly name: string;
  readonly path: string;
  readonly request: RawObject;
  readonly status: number;
  /** The whole answer, head included. */
  readonly answer: string;
  readonly body: string;
}

/** The JSON exchanges with a real vLLM of this version and set-up. */
export function recordings(set: 'v0.16' | 'v0.32' | 'v0.32-s2' | 'v0.32-endpoints'): Recorded[] {
  const file = readFileSync(new URL(`../../fixtures/vllm/${set}.jsonl`, import.meta.url), 'utf8');
  return file
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const { name, request, response } = JSON.parse(line);
      const object =
        typeof request.body === 'string' ? RawObject.parse(Buffer.from(request.body)) : undefined;
      if (object === undefined || typeof response !== 'string') return [];
      const path = String(request.head).split(' ')[1] ?? '';
      const body = response.slice(response.indexOf('\r\n\r\n') + 4);
      // Some bodies were shortened after they were recorded.
      const answer = response.replace(/content-length: \d+/, `content-length: ${Buffer.byteLength(body)}`);
      return [{ name, path, request: object, status: Number(response.slice(9, 12)), answer, body }];
    });
}

const READ_BY_TOKENIZE = [
  'model',
  'messages',
  'tools',
  'continue_final_message',
  'add_special_tokens',
  'chat_template',
  'chat_template_kwargs',
  'mm_processor_kwargs',
  'media_io_kwargs',
] as const;

/** Equal for two `/tokenize` requests that the server reads alike. */
export function tokenizeIdentity(request: RawObject): string {
  const present = READ_BY_TOKENIZE.filter((name) => request.has(name) && request.text(name) !== 'null');
  const members = present.map((name) => `"${name}":${request.text(name)}`);
  members.push(`"add_generation_prompt":${request.text('add_generation_prompt') ?? 'true'}`);
  return canonical(Buffer.from(`{${members.join(',')}}`));
}
