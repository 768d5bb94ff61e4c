import { editObject, type ObjectEdit, objectReplacements } from '../body/edit-object.js';
import { objectMembers } from '../body/members.js';
import { PRIVATE_FIELDS } from '../body/private-fields.js';
import { RawObject } from '../body/raw-object.js';
import { type Span, splice } from '../body/span.js';
import type { Checkpoint, CheckpointRow, NodeRecord } from '../store/conversation-store.js';
import { isFields } from './canonical.js';
import type { Chain, ChainMessage } from './chain.js';
import { BOOKKEEPING, type Message } from './message.js';

/** One message of a view: the bytes that go upstream, and what belongs to it but never does. */
export interface ViewRow extends Omit<CheckpointRow, 'uid'> {
  /** `undefined`: it has none yet, as those of the head, and all while nothing is stored. */
  readonly uid: string | undefined;
  readonly origin: 'head' | 'checkpoint' | 'client';
  /** How many of the client's messages this row and those before it stand for, the head not counted. */
  readonly through: number;
}

export interface ViewParts {
  readonly request: RawObject;
  readonly chain: Chain;
  /** By their place on the path. */
  readonly nodes: readonly (NodeRecord | undefined)[];
  readonly checkpoint?: Checkpoint | undefined;
}

/** Part of the name of every private field. */
const TRACE = Buffer.from('_uid');
const PRIVATE: ObjectEdit = { drop: PRIVATE_FIELDS };

/** What the conversation looks like: the client's head, the checkpoint, and what the client sent since. */
export function buildView({ request, chain, nodes, checkpoint }: ViewParts): ViewRow[] {
  const rendered = renderer(request);
  const rows = chain.headRows.map((span) => sentRow(rendered(span), undefined, 'head', 0));
  const covered = checkpoint?.messages ?? 0;
  for (const row of checkpoint?.rows ?? []) rows.push({ ...row, origin: 'checkpoint', through: covered });
  for (let i = covered; i < chain.messages.length; i += 1) {
    const { span } = chain.messages[i] as ChainMessage;
    rows.push(sentRow(rendered(span), nodes[i], 'client', i + 1));
  }
  return rows;
}

/**
 * The view as engines see it: fresh deep copies with their bookkeeping, whatever the client sent under those names.
 * What is no object comes as it is: look for `violations` before an engine does.
 */
export function viewMessages(rows: readonly ViewRow[]): Message[] {
  return rows.map((row) => {
    const message = JSON.parse(row.bytes.toString('utf8'));
    if (isFields(message)) stamp(message as Message, row);
    return message as Message;
  });
}

/**
 * The request with the view in the place of its messages; all other bytes stay. The same Buffer where the view is
 * what the client sent.
 */
export function renderRequest(request: RawObject, rows: readonly ViewRow[]): Buffer {
  const span = request.member('messages')?.value;
  if (span === undefined || request.bytes[span.start] !== OPEN[0]) return request.bytes;
  if (isUntouched(request.bytes, span, rows)) return request.bytes;
  const { bytes } = request;
  const parts: Buffer[] = [bytes.subarray(0, span.start + 1)];
  rows.forEach((row, i) => {
    if (i > 0) parts.push(COMMA);
    parts.push(row.bytes);
  });
  parts.push(bytes.subarray(span.end - 1));
  return Buffer.concat(parts);
}

/** The request with other messages than its own: what they hold beside the bookkeeping. */
export function renderMessages(request: RawObject, messages: readonly Message[]): RawObject {
  const set = new Map([['messages', `[${messages.map(messageText).join(',')}]`]]);
  return RawObject.parse(editObject(request, { set })) as RawObject;
}

/** A message as it goes upstream, without its bookkeeping. */
export function messageText(message: Message): string {
  const said = Object.entries(message).filter(([name]) => !BOOKKEEPING.has(name));
  return JSON.stringify(Object.fromEntries(said));
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');

const NONE: readonly string[] = [];

/** A row of the client's own, with what is known of it. */
function sentRow(
  bytes: Buffer,
  node: NodeRecord | undefined,
  origin: ViewRow['origin'],
  through: number,
): ViewRow {
  return {
    bytes,
    uid: node?.uid,
    absorbed: node?.absorbed ?? NONE,
    toolCallUids: node?.toolCallUids,
    toolCallUid: node?.toolCallUid,
    mark: undefined,
    origin,
    through,
  };
}

/** Cuts messages out of the request: its own bytes, without private fields. */
function renderer({ bytes, hasEscapedKey }: RawObject): (span: Span) => Buffer {
  const slice = ({ start, end }: Span): Buffer => bytes.subarray(start, end);
  if (!hasEscapedKey && !bytes.includes(TRACE)) return slice;
  return (span) => {
    const message = slice(span);
    const whole = { start: 0, end: message.length };
    const members = objectMembers(message, whole);
    if (!members.some(({ key }) => PRIVATE_FIELDS.has(key))) return message;
    return splice(message, objectReplacements({ bytes: message, members, span: whole }, PRIVATE));
  };
}

function stamp(message: Message, row: ViewRow): void {
  for (const name of BOOKKEEPING) delete message[name];
  if (row.uid !== undefined) message.message_uid = row.uid;
  if (row.absorbed.length > 0) message._absorbed_message_uids = [...row.absorbed];
  if (row.toolCallUids !== undefined) message._tool_call_uids = structuredClone(row.toolCallUids);
  if (row.toolCallUid !== undefined) message._tool_call_uid = row.toolCallUid;
  if (row.mark !== undefined) message._engine_mark = JSON.parse(row.mark);
}

/** True where the rows are the array's own elements, in their place and all of them. */
function isUntouched(bytes: Buffer, span: Span, rows: readonly ViewRow[]): boolean {
  let end = span.start + 1;
  for (const row of rows) {
    if (row.bytes.buffer !== bytes.buffer) return false;
    const start = row.bytes.byteOffset - bytes.byteOffset;
    if (start < end || start > span.end || !isGap(bytes, end, start)) return false;
    end = start + row.bytes.length;
  }
  return end < span.end && isGap(bytes, end, span.end - 1);
}

const BETWEEN: ReadonlySet<number | undefined> = new Set([0x20, 0x0a, 0x0d, 0x09, 0x2c]);

/** True where nothing stands but what may stand between elements. */
function isGap(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!BETWEEN.has(bytes[at])) return false;
  return true;
}
