import { objectReplacements } from './edit-object.js';
import { arrayElements, objectMembers } from './members.js';
import type { RawObject } from './raw-object.js';
import { type Replacement, type Span, splice } from './span.js';

/** Bookkeeping members of a message that are ours to read and never go upstream. */
export const PRIVATE_FIELDS: ReadonlySet<string> = new Set([
  'message_uid',
  '_absorbed_message_uids',
  '_tool_call_uids',
  '_tool_call_uid',
]);

/** Part of every private field's name. */
const TRACE = Buffer.from('_uid');

/**
 * The body without the private fields of its messages; all other bytes stay. The same Buffer where there are
 * none. Every `messages` member is cleaned, also one that a later duplicate overrides.
 */
export function withoutPrivateFields(object: RawObject): Buffer {
  const { bytes } = object;
  if (!object.hasEscapedKey && !bytes.includes(TRACE)) return bytes;
  const replacements = object.members
    .filter((member) => member.key === 'messages')
    .flatMap((member) => arrayElements(bytes, member.value))
    .flatMap((element) => privateMembers(bytes, element));
  return splice(bytes, replacements);
}

function privateMembers(bytes: Buffer, span: Span): Replacement[] {
  const members = objectMembers(bytes, span);
  if (!members.some((member) => PRIVATE_FIELDS.has(member.key))) return [];
  return objectReplacements({ bytes, members, span }, { drop: PRIVATE_FIELDS });
}
