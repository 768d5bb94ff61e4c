import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';

/** A timer that is set further ahead fires at once. */
export const longestDelay = 2_147_483_647;

const delay = z.number().min(0).max(longestDelay);

/** What frames an answer stays the server's own. */
const framing = new Set(['connection', 'content-length', 'transfer-encoding']);

const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    const message = headerProblem(name, value);
    if (message !== null) context.addIssue({ code: 'custom', message, path: [name] });
  }
});

function headerProblem(name: string, value: string): string | null {
  if (framing.has(name.toLowerCase())) return 'the server itself writes this header';
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const callSchema = z.strictObject({
  id: z.string().optional(),
  type: z.literal('function').optional(),
  name: z.string(),
  /** JSON text, or a value that is written as JSON. */
  arguments: z.unknown().optional(),
});

/** Also as a client would send it back: `{id, type, function: {name, arguments}}`. */
const eitherCallSchema = z.preprocess(flatCall, callSchema);

function flatCall(call: unknown): unknown {
  if (typeof call !== 'object' || call === null || !('function' in call)) return call;
  const { function: called, ...rest } = call;
  return typeof called === 'object' ? { ...rest, ...called } : call;
}

/** What `/tokenize` does for a request whose last user message carries the script. */
const tokenizeSchema = z.strictObject({
  delay_ms: delay.optional(),
  status: z.int().min(200).max(599).optional(),
  headers: headersSchema.optional(),
  /** In place of the answer: JSON, or a text that is sent as it is. */
  body: z.unknown().optional(),
  content_type: z.string().optional(),
  count: z.number().optional(),
  max_model_len: z.number().optional(),
  /** So many ids in the answer. */
  ids: z.int().min(0).max(10_000_000).optional(),
  /** The connection breaks in the middle of the answer. */
  cut: z.boolean().optional(),
});

const partsSchema = z.strictObject({
  /** The answer's text; without it the simulator makes one up. */
  text: z.string().optional(),
  /** Length of the made-up answer, which then ends with `stop`. */
  tokens: z.int().min(0).optional(),
  reasoning: z.string().optional(),
  tool_calls: z.array(eitherCallSchema).optional(),
  finish_reason: z.string().optional(),
  /** Milliseconds before the answer's head. */
  delay_ms: delay.optional(),
  /** Milliseconds before each chunk. */
  chunk_delay_ms: delay.optional(),
  /** HTTP status of a failure. */
  status: z.int().min(200).max(599).optional(),
  /** A message, or a whole error object; in a stream without `status` it comes after the text, in-band. */
  error: z.unknown().optional(),
  /** Further headers of the answer. */
  headers: headersSchema.optional(),
  /** The connection breaks after so many chunks of the answer; 0: before the head. */
  cut_after_chunks: z.int().min(0).optional(),
  /** A connection that breaks is reset. */
  reset: z.boolean().optional(),
  /** The next request on this connection finds it closed. */
  close_next: z.boolean().optional(),
  /** Events are written in pieces of so many bytes. */
  split_bytes: z.int().min(1).optional(),
  /** Silence for ever: `true` before the head, a number after so many chunks. */
  hang: z.union([z.boolean(), z.int().min(0)]).optional(),
  tokenize: tokenizeSchema.optional(),
});

const roundSchema = partsSchema.extend({
  /** One script for each time that the same request comes; the last one repeats. */
  attempts: z.array(partsSchema).min(1).optional(),
});

export const scriptSchema = roundSchema.extend({
  /** One script for each tool round since the message; the last one repeats. */
  rounds: z.array(roundSchema).min(1).optional(),
});

/** A tool call of a scripted answer. */
export type ScriptedCall = z.infer<typeof callSchema>;

export type TokenizeScript = z.infer<typeof tokenizeSchema>;

/** What a line `!sim {json}` in the last user message prescribes. */
export type Script = z.infer<typeof scriptSchema>;
