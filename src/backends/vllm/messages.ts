import { type ObjectEdit, objectReplacements } from '../../body/edit-object.js';
import { arrayElements, type Member, objectMembers } from '../../body/members.js';
import type { RawObject } from '../../body/raw-object.js';
import { type Replacement, type Span, splice } from '../../body/span.js';
import { mayHaveReasoningContent } from './chat-rules.js';

const SENT = 'reasoning_content';
const RENDERED = 'reasoning';

/**
 * The raw `messages` as Chat Completions hands them to the template: `reasoning_content` becomes `reasoning`
 * where that is absent or null. `/tokenize` would drop it and count too few tokens.
 */
export function renderedMessages(request: RawObject, messages: Buffer): Buffer {
  if (!mayHaveReasoningContent(request, messages)) return messages;
  const elements = arrayElements(messages, { start: 0, end: messages.length });
  return splice(
    messages,
    elements.flatMap((element) => renamed(messages, element)),
  );
}

function renamed(bytes: Buffer, span: Span): Replacement[] {
  const members = objectMembers(bytes, span);
  const sent = members.findLast((member) => member.key === SENT);
  if (sent === undefined) return [];
  const rendered = members.findLast((member) => member.key === RENDERED);
  const moves = !isNull(bytes, sent) && (rendered === undefined || isNull(bytes, rendered));
  const edit: ObjectEdit = moves
    ? { drop: new Set([RENDERED]), rename: new Map([[SENT, RENDERED]]) }
    : { drop: new Set([SENT]) };
  return objectReplacements({ bytes, members, span }, edit);
}

function isNull(bytes: Buffer, member: Member): boolean {
  return bytes[member.value.start] === 0x6e;
}
