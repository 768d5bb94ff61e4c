import { z } from 'zod';
import { parsePythonJson } from './python-json.js';
import { isDict, isList, type PythonValue, toPlain } from './python-value.js';
import { badRequest } from './refusal.js';

const callSchema = z.object({
  id: z.string().optional(),
  name: z.string(),
  /** JSON text, or a value that is written as JSON. */
  arguments: z.unknown().optional(),
});

/** Also as a client would send it back: `{id, type, function: {name, arguments}}`. */
const eitherCallSchema = z.union([
  callSchema,
  z
    .object({ id: z.string().optional(), function: callSchema.omit({ id: true }) })
    .transform(({ id, function: called }) => ({ id, ...called })),
]);

const partsSchema = z.object({
  /** The answer's text; without it the simulator makes one up. */
  text: z.string().optional(),
  /** Length of the made-up answer, which then ends with `stop`. */
  tokens: z.int().min(0).optional(),
  reasoning: z.string().optional(),
  tool_calls: z.array(eitherCallSchema).optional(),
  finish_reason: z.string().optional(),
  /** Milliseconds before the answer's head. */
  delay_ms: z.number().min(0).optional(),
  /** Milliseconds before each chunk. */
  chunk_delay_ms: z.number().min(0).optional(),
  /** HTTP status of a failure. */
  status: z.int().min(200).max(599).optional(),
  /** A message, or a whole error object; in a stream without `status` it comes after the text, in-band. */
  error: z.unknown().optional(),
  /** The connection breaks after so many chunks of the answer. */
  cut_after_chunks: z.int().min(0).optional(),
  /** Silence for ever: `true` before the head, a number after so many chunks. */
  hang: z.union([z.boolean(), z.int().min(0)]).optional(),
});

const scriptSchema = partsSchema.extend({
  /** One script for each tool round since the message; the last one repeats. */
  rounds: z.array(partsSchema).min(1).optional(),
});

/** A tool call of a scripted answer. */
export type ScriptedCall = z.infer<typeof callSchema>;

/** What a line `!sim {json}` in the last user message prescribes. */
export type Script = z.infer<typeof scriptSchema>;

const scriptLine = /^[ \t]*!sim[ \t]+(\{.*?)[ \t]*$/m;

/**
 * The script of a conversation, the current tool round's already chosen.
 * @throws Refusal 400 for a script that makes no sense
 */
export function scriptOfMessages(messages: readonly PythonValue[]): Script {
  const at = messages.findLastIndex((message) => isDict(message) && message.get('role') === 'user');
  const last = messages[at];
  if (!isDict(last)) return {};
  const script = scriptOfText(contentText(last.get('content')));
  const rounds = messages
    .slice(at + 1)
    .filter(
      (message) =>
        isDict(message) && message.get('role') === 'assistant' && hasCalls(message.get('tool_calls')),
    );
  const chosen = script.rounds?.[Math.min(rounds.length, script.rounds.length - 1)];
  return { ...script, ...chosen };
}

export function scriptOfText(text: string): Script {
  const line = scriptLine.exec(text)?.[1];
  if (line === undefined) return {};
  const parsed = scriptSchema.safeParse(readLine(line));
  if (parsed.success) return parsed.data;
  throw badRequest(`!sim: ${z.prettifyError(parsed.error)}`);
}

function readLine(line: string): unknown {
  try {
    return toPlain(parsePythonJson(line));
  } catch (error) {
    throw badRequest(`!sim: ${(error as Error).message}`);
  }
}

function hasCalls(calls: PythonValue | undefined): boolean {
  return isList(calls) && calls.length > 0;
}

function contentText(content: PythonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (!isList(content)) return '';
  const texts = content.map((part) => (isDict(part) ? part.get('text') : part));
  return texts.filter((text) => typeof text === 'string').join('\n');
}
