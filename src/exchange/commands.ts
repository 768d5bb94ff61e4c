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
const MARK = Buffer.from(ANSWER_MARK);

/** Takes commands out of a request. It remembers nothing: they are known by their text. */
export function hearCommands(body: Buffer, bodies: BodyReader): Heard {
  const read = bodies.read(body);
  const member = read.kind === 'object' ? read.object.member('messages') : undefined;
  if (read.kind !== 'object' || member === undefined) return { body, command: undefined };
  const command = lastCommand(read.object, member);
  if (command === undefined && !body.includes(MARK)) return { body, command };
  const elements = arrayElements(body, member.value);
  const removed = answered(body, elements);
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

/** The places of commands with our answers to them, and of all that a person left behind with one. */
function answered(bytes: Buffer, elements: readonly Span[]): Set<number> {
  const removed = new Set<number>();
  let begun = -1;
  for (let i = 1; i < elements.length; i += 1) {
    const message = subarray(bytes, elements[i]);
    if (!message.includes(MARK) || !isAnswer(parsed(message))) continue;
    const command = commandOf(parsed(subarray(bytes, elements[i - 1])));
    if (command === undefined) continue;
    removed.add(i - 1).add(i);
    if (command.kind !== 'compress') begun = i;
  }
  if (begun < 0) return removed;
  for (let i = headLength(bytes, elements); i < begun; i += 1) removed.add(i);
  return removed;
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
