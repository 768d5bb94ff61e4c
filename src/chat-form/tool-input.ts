import { arrayElements, objectMembers } from '../body/members.js';
import { isFields } from '../conversation/canonical.js';

/** The bytes of a block's `input`, the block being an element of a message's content: numbers stay as they are written. */
export function argumentsOf(message: Buffer, block: number): string | undefined {
  const content = lastMember(message, { start: 0, end: message.length }, 'content');
  const span = content && arrayElements(message, content)[block];
  const input = span && lastMember(message, span, 'input');
  return input && message.toString('utf8', input.start, input.end);
}

/** JSON text of an object with those arguments: their own where they are one. */
export function inputText(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '{}');
  try {
    if (isFields(JSON.parse(text))) return text;
  } catch {
    // As a text, then: an engine may have cut them short.
  }
  return JSON.stringify(text.trim() === '' ? {} : { arguments: text });
}

function lastMember(bytes: Buffer, span: { readonly start: number; readonly end: number }, name: string) {
  return objectMembers(bytes, span).findLast(({ key }) => key === name)?.value;
}
