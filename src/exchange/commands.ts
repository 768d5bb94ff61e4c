import type { BodyReader } from '../body/body-reader.js';
import { arrayElements, type Member } from '../body/members.js';
import type { RawObject } from '../body/raw-object.js';
import { type Replacement, type Span, splice } from '../body/span.js';
import { isFields, plainText } from '../conversation/canonical.js';

/** What a person tells the proxy itself, as the last user message of a request. */
export type Command =
  | { readonly kind: 'new' | 'reset' }
  | { readonly kind: 'compress'; readonly focus: string | undefined };

export interface Heard {
  /** The request without commands, our answers to them, and what a person has left behind; all other bytes stay. */
  readonly body: Buffer;
  /** What the last message asks for. */
  readonly command: Command | undefined;
}

/** Begins every answer of ours, so that it is known again when the client sends it back. */
export const ANSWER_MARK = '[incontext] ';
const COMMAND_WORDS = ['/new', '/reset', '/compress'];

/** Takes commands out of a request. It remembers nothing: they are known by their text. */
export function hearCommands(body: Buffer, bodies: BodyReader): Heard {
  const read = bodies.read(body);
  const member = read.kind === 'object' ? read.object.member('messages') : undefined;
  if (read.kind !== 'object' || member === undefined) return { body, command: undefined };
  const command = lastCommand(read.object, member);
  if (command === undefined && !hasWord(body)) return { body, command };
  const elements = arrayElements(body, member.value);
  const removed = leftOut(body, elements);
  if (command !== undefined) removed.add(elements.length - 1);
  return { body: splice(body, cuts(elements, removed)), command };
}

function lastCommand({ bytes }: RawObject, { value, afterLastComma }: Member): Command | undefined {
  // Found without a look at the others.
  const start = afterLastComma ?? value.start + 1;
  const text = bytes.toString('utf8', start, value.end - 1).trim();
  return bytes[value.start] === OPEN_ARRAY && text !== '' ? commandOf(JSON.parse(text)) : undefined;
}

const OPEN_ARRAY = 0x5b;

/** The places of earlier commands, of what answered them, and of all that a person left behind with one. */
function leftOut(bytes: Buffer, elements: readonly Span[]): Set<number> {
  const removed = new Set<number>();
  const request = lastUser(bytes, elements);
  let begun = -1;
  for (let i = 0; i < elements.length - 1; i += 1) {
    const message = subarray(bytes, elements[i]);
    const command = hasWord(message) ? commandOf(parsed(message)) : undefined;
    if (command === undefined) continue;
    const length = lengthWithAnswer(parsed(subarray(bytes, elements[i + 1])), i < request);
    for (let at = i; at < i + length; at += 1) removed.add(at);
    if (length > 0 && command.kind !== 'compress') begun = i + length - 1;
  }
  if (begun < 0) return removed;
  for (let i = headLength(bytes, elements); i <= begun; i += 1) removed.add(i);
  return removed;
}

/**
 * How many messages leave with a command, itself among them.
 * A client may have kept no answer, or a text of its own in place of ours. That text leaves too: behind the command's
 * place it would follow another assistant's message, or begin the conversation.
 */
function lengthWithAnswer(next: unknown, isPast: boolean): number {
  if (isAnswer(next)) return 2;
  // Without a later request of a person, nothing would be left to answer.
  if (!isPast) return 0;
  if (!isFields(next) || next.role !== 'assistant') return 1;
  // Results would lose their calls: with commands off, the model took it for a task.
  return Array.isArray(next.tool_calls) && next.tool_calls.length > 0 ? 0 : 2;
}

function lastUser(bytes: Buffer, elements: readonly Span[]): number {
  return elements.findLastIndex((span) => {
    const message = parsed(subarray(bytes, span));
    return isFields(message) && message.role === 'user';
  });
}

function hasWord(bytes: Buffer): boolean {
  return COMMAND_WORDS.some((word) => bytes.includes(word));
}

function headLength(bytes: Buffer, elements: readonly Span[]): number {
  const end = elements.findIndex((span) => {
    const message = parsed(subarray(bytes, span));
    return !isFields(message) || (message.role !== 'system' && message.role !== 'developer');
  });
  return end < 0 ? elements.length : end;
}

/** Cuts elements out of an array, each with the comma that it no longer needs. */
function cuts(elements: readonly Span[], removed: ReadonlySet<number>): Replacement[] {
  const replacements: Replacement[] = [];
  for (let i = 0; i < elements.length; i += 1) {
    if (!removed.has(i)) continue;
    const first = i;
    while (removed.has(i + 1)) i += 1;
    const last = elements[i] as Span;
    const span =
      first > 0
        ? { start: (elements[first - 1] as Span).end, end: last.end }
        : { start: (elements[0] as Span).start, end: elements[i + 1]?.start ?? last.end };
    replacements.push({ span, text: '' });
  }
  return replacements;
}

/** Nothing but the command: words around it are meant for the model. */
function commandOf(message: unknown): Command | undefined {
  if (!isFields(message) || message.role !== 'user') return undefined;
  const text = plainText(message.content)?.trim();
  if (text === '/new') return { kind: 'new' };
  if (text === '/reset') return { kind: 'reset' };
  const compress = /^\/compress(?:\s+([\s\S]+))?$/.exec(text ?? '');
  return compress === null ? undefined : { kind: 'compress', focus: compress[1] };
}

function isAnswer(message: unknown): boolean {
  return (
    isFields(message) &&
    message.role === 'assistant' &&
    plainText(message.content)?.startsWith(ANSWER_MARK) === true
  );
}

function subarray(bytes: Buffer, span: Span | undefined): Buffer {
  return span === undefined ? Buffer.alloc(0) : bytes.subarray(span.start, span.end);
}

function parsed(message: Buffer): unknown {
  return JSON.parse(message.toString());
}
