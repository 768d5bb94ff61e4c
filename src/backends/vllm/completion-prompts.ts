import { hash } from 'node:crypto';
import { arrayElements } from '../../body/members.js';
import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';

/** Beyond this many texts the calls would take longer than their answer. */
const MOST_TEXTS = 256;
const QUOTE = 0x22;

/** The prompts of a completion request. */
export interface CompletionPrompts {
  /** The length of the longest list of token ids, 0 without one. */
  readonly tokenIds: number;
  /** The raw JSON strings that have to be tokenized, each once. */
  readonly texts: readonly Buffer[];
}

/** @throws CountFailedError `unsupported` where they are none that vLLM takes, or too many. */
export function completionPrompts(request: RawObject): CompletionPrompts {
  const prompt = request.raw('prompt');
  if (prompt?.[0] === QUOTE) return { tokenIds: 0, texts: [prompt] };
  const parsed = request.value('prompt');
  if (prompt === undefined || !Array.isArray(parsed) || parsed.length === 0) throw unsupported();
  if (parsed.every(isTokenId)) return { tokenIds: parsed.length, texts: [] };
  if (parsed.every(isTokenIds)) return { tokenIds: Math.max(...parsed.map((ids) => ids.length)), texts: [] };
  const elements = arrayElements(prompt, { start: 0, end: prompt.length });
  const texts = new Map(
    elements.map(({ start, end }) => [prompt.toString('latin1', start, end), prompt.subarray(start, end)]),
  );
  if (texts.size > MOST_TEXTS || !parsed.every((one) => typeof one === 'string')) throw unsupported();
  return { tokenIds: 0, texts: [...texts.values()] };
}

/** The body of `POST /tokenize` (vLLM's `TokenizeCompletionRequest`) for one of them, in parts. */
export function promptPayload(request: RawObject, text: Buffer): Buffer[] {
  const parts: Buffer[] = [Buffer.from('{')];
  for (const name of BESIDE_THE_TEXT) {
    const value = request.raw(name);
    if (value !== undefined) parts.push(Buffer.from(`"${name}":`), value, Buffer.from(','));
  }
  parts.push(Buffer.from('"prompt":'), text, Buffer.from('}'));
  return parts;
}

const BESIDE_THE_TEXT = ['model', 'add_special_tokens'] as const;

/** Equal keys mean equal payloads. Of fixed length, as those of chats are, and never equal to one of them. */
export function promptKey(request: RawObject, text: Buffer): string {
  const beside = BESIDE_THE_TEXT.map((name) => request.digest(name) ?? '');
  return hash('sha256', ['prompt', ...beside, hash('sha256', text, 'base64url')].join(' '), 'base64url');
}

function isTokenIds(prompt: unknown): prompt is readonly number[] {
  return Array.isArray(prompt) && prompt.every(isTokenId);
}

function isTokenId(id: unknown): boolean {
  return Number.isSafeInteger(id) && (id as number) >= 0;
}

function unsupported(): CountFailedError {
  return new CountFailedError('unsupported');
}
