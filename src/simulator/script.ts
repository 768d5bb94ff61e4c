import { z } from 'zod';
import { JsonRecursionError, parsePythonJson } from './python-json.js';
import { isDict, isList, type PythonValue, toPlain } from './python-value.js';
import { badRequest } from './refusal.js';
import { type Script, scriptSchema } from './script-schema.js';

const mark = '!sim';

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

/**
 * The script of a text: its first line that begins with `!sim`.
 * @throws Refusal 400 for a script that makes no sense
 */
export function scriptOfText(text: string): Script {
  const line = scriptLine(text);
  if (line === undefined) return {};
  if (!/^[ \t]+\{/.test(line)) throw badRequest('!sim: write a script as !sim {...}, with a space between');
  const parsed = scriptSchema.safeParse(readJson(line.trim()));
  if (parsed.success) return parsed.data;
  throw badRequest(`!sim: ${z.prettifyError(parsed.error)}`);
}

/** What follows the mark on the first line that begins with it; a longer word is no mark. */
function scriptLine(text: string): string | undefined {
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    const start = at + mark.length;
    if (!beginsLine(text, at) || /^\w/.test(text.charAt(start))) continue;
    const rest = text.slice(start);
    const end = rest.search(/[\r\n]/);
    return end < 0 ? rest : rest.slice(0, end);
  }
  return undefined;
}

function beginsLine(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === ' ' || text[before] === '\t') before -= 1;
  return before < 0 || text[before] === '\n' || text[before] === '\r';
}

function readJson(text: string): unknown {
  try {
    return toPlain(parsePythonJson(text));
  } catch (error) {
    const reason = error instanceof JsonRecursionError ? 'nested too deeply' : (error as Error).message;
    throw badRequest(`!sim: ${reason}`);
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
