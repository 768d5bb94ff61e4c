import { parsePythonJson } from './python-json.js';
import { isDict, isList, type PythonValue, toPlain } from './python-value.js';
import { badRequest } from './refusal.js';

/** A tool call of a scripted answer. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** JSON text, or a value that is written as JSON. */
  readonly arguments?: unknown;
}

/** What a line `!sim {json}` in the last user message prescribes. */
export interface Script {
  /** The answer's text; without it the simulator makes one up. */
  readonly text?: string;
  /** Length of the made-up answer, which then ends with `stop`. */
  readonly tokens?: number;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ScriptedCall[];
  readonly finish_reason?: string;
  /** Milliseconds before the answer's head. */
  readonly delay_ms?: number;
  /** Milliseconds before each chunk. */
  readonly chunk_delay_ms?: number;
  /** HTTP status of a failure. */
  readonly status?: number;
  /** A message, or a whole error object; in a stream without `status` it comes after the text, in-band. */
  readonly error?: unknown;
  /** The connection breaks after so many chunks of the answer. */
  readonly cut_after_chunks?: number;
  /** Silence for ever: `true` before the head, a number after so many chunks. */
  readonly hang?: boolean | number;
  /** One script for each tool round since the message; the last one repeats. */
  readonly rounds?: readonly Script[];
}

const scriptLine = /^[ \t]*!sim[ \t]+(\{.*\})[ \t]*$/m;

/**
 * The script of a conversation, the current tool round's already chosen.
 * @throws Refusal 400 for a script that is no JSON
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
  try {
    return toPlain(parsePythonJson(line)) as Script;
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
