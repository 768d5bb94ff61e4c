import type { Member } from './members.js';
import type { RawObject } from './raw-object.js';
import { type Replacement, type Span, splice } from './span.js';

/** What to change among the members of an object. Names are compared after unescaping. */
export interface ObjectEdit {
  /**
   * Raw JSON text by name. It takes the place of the last occurrence's value; a name that the object has not
   * (or that is dropped as well) is appended as the last member.
   */
  readonly set?: ReadonlyMap<string, string | Buffer> | undefined;
  /** Names to remove, in all their occurrences. */
  readonly drop?: ReadonlySet<string> | undefined;
  /** New name by present name; the values stay. */
  readonly rename?: ReadonlyMap<string, string> | undefined;
}

/**
 * The object's bytes with the edit made: setting replaces one value token, dropping takes exactly one comma
 * with each member, all other bytes stay. The same Buffer where there is nothing to change.
 */
export function editObject(object: RawObject, edit: ObjectEdit): Buffer {
  return splice(object.bytes, objectReplacements(object, edit));
}

/** Where an edit touches the bytes, in their order. Takes any located object, nested ones included. */
export function objectReplacements(
  object: Pick<RawObject, 'bytes' | 'members' | 'span'>,
  edit: ObjectEdit,
): Replacement[] {
  const { bytes, members } = object;
  const pending = new Map(edit.set);
  const changes: Replacement[][] = [];
  for (let i = members.length - 1; i >= 0; i -= 1) {
    const member = members[i] as Member;
    if (edit.drop?.has(member.key)) continue;
    const renamed = edit.rename?.get(member.key);
    const change: Replacement[] = [];
    if (renamed !== undefined) change.push({ span: member.name, text: JSON.stringify(renamed) });
    const text = pending.get(member.key);
    pending.delete(member.key);
    if (text !== undefined && !holds(bytes, member.value, text)) change.push({ span: member.value, text });
    changes[i] = change;
  }
  const appended = Array.from(pending, ([name, text]) => [
    Buffer.from(`${JSON.stringify(name)}:`),
    Buffer.from(text),
  ]);
  return removals(
    object,
    changes,
    appended.map((parts) => Buffer.concat(parts)),
  );
}

/** Merges the changes of the members that stay (`undefined`: the member goes) with removals and appended members. */
function removals(
  object: Pick<RawObject, 'members' | 'span'>,
  changes: readonly (readonly Replacement[] | undefined)[],
  appended: readonly Buffer[],
): Replacement[] {
  const { members, span } = object;
  const replacements: Replacement[] = [];
  let anyStays = false;
  for (let i = 0; i < members.length; i += 1) {
    const change = changes[i];
    if (change === undefined) replacements.push({ span: removedSpan(members, i, anyStays), text: '' });
    else replacements.push(...change);
    anyStays ||= change !== undefined;
  }
  const at = members.at(-1)?.whole.end ?? span.start + 1;
  const end = { start: at, end: at };
  for (const member of appended) {
    if (anyStays) replacements.push({ span: end, text: ',' });
    replacements.push({ span: end, text: member });
    anyStays = true;
  }
  return replacements;
}

/** With the comma before it, or with the one after it where no member that stays comes before. */
function removedSpan(members: readonly Member[], i: number, anyStaysBefore: boolean): Span {
  const { whole } = members[i] as Member;
  if (anyStaysBefore) return { start: (members[i - 1] as Member).whole.end, end: whole.end };
  return { start: whole.start, end: members[i + 1]?.whole.start ?? whole.end };
}

function holds(bytes: Buffer, span: Span, text: string | Buffer): boolean {
  return bytes.subarray(span.start, span.end).equals(typeof text === 'string' ? Buffer.from(text) : text);
}
