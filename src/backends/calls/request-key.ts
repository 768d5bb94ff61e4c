import { hash } from 'node:crypto';
import type { RawObject } from '../../body/raw-object.js';

/** Members that never reach a prompt: requests that differ in nothing else have one count. */
const BESIDE_THE_PROMPT = new Set([
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n_predict'],
  ...['stream', 'stream_options', 'temperature', 'top_p', 'seed', 'user'],
]);

/** Equal keys mean equal counts. Of fixed length, so that nothing can run into what stands behind it. */
export function requestKey(request: RawObject): string {
  const names = new Set(request.members.map((member) => member.key));
  const told = [...names]
    .filter((name) => !BESIDE_THE_PROMPT.has(name))
    .map((name) => `${JSON.stringify(name)}:${request.digest(name)}`);
  return hash('sha256', told.join(' '), 'base64url');
}
