import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';
import type { CountingPath } from './counting-paths.js';

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

/** A text, or a list with token ids in it; a list of texts alone is a prompt each. */
function isOnePrompt(prompt: unknown): boolean {
  if (typeof prompt === 'string') return true;
  if (!Array.isArray(prompt) || prompt.length === 0) return false;
  const isFlat = prompt.every((part) => typeof part === 'string' || Number.isSafeInteger(part));
  return isFlat && (prompt.length === 1 || prompt.some((part) => typeof part === 'number'));
}
