import { hash } from 'node:crypto';
import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';
import type { CountingPath } from './counting-paths.js';

/** Members that never reach a prompt: requests that differ in nothing else have one count. */
const BESIDE_THE_PROMPT = new Set([
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n_predict'],
  ...['stream', 'stream_options', 'temperature', 'top_p', 'seed', 'user'],
]);

const BEFORE_PROMPT = Buffer.from('{"content":');
/** As the completions endpoint tokenizes its prompt. */
const AFTER_PROMPT = Buffer.from(',"add_special":true,"parse_special":true}');

/**
 * What is posted to the counting endpoint, in parts: the client's own bytes.
 * @throws CountFailedError `unsupported` for several prompts in one request.
 */
export function countingPayload(request: RawObject, { takes }: CountingPath): readonly Buffer[] {
  if (takes === 'request') return [request.bytes];
  const prompt = request.raw('prompt');
  if (prompt === undefined || !isOnePrompt(request.value('prompt')))
    throw new CountFailedError('unsupported');
  return [BEFORE_PROMPT, prompt, AFTER_PROMPT];
}

/** Equal keys mean equal counts. Of fixed length, so that nothing can run into what stands behind it. */
export function countingKey(request: RawObject): string {
  const names = new Set(request.members.map((member) => member.key));
  const told = [...names]
    .filter((name) => !BESIDE_THE_PROMPT.has(name))
    .map((name) => `${JSON.stringify(name)}:${request.digest(name)}`);
  return hash('sha256', told.join(' '), 'base64url');
}

/** A text, or a list with token ids in it; a list of texts alone is a prompt each. */
function isOnePrompt(prompt: unknown): boolean {
  if (typeof prompt === 'string') return true;
  if (!Array.isArray(prompt) || prompt.length === 0) return false;
  const isFlat = prompt.every((part) => typeof part === 'string' || Number.isSafeInteger(part));
  return isFlat && (prompt.length === 1 || prompt.some((part) => typeof part === 'number'));
}
