import type { CheckpointRow } from '../store/conversation-store.js';
import { isFields } from './canonical.js';
import { BOOKKEEPING, headLength, type Message } from './message.js';
import { sameJson, sameMessage } from './same-json.js';
import { messageText, type ViewRow } from './view.js';

export interface Settled {
  /** The view with the result in it. */
  readonly rows: readonly ViewRow[];
  /** What the engine made of the first messages behind the head. They share no memory with the request. */
  readonly checkpointRows: readonly (ViewRow & CheckpointRow)[];
  /** How many of the client's messages they stand for, the head not counted. */
  readonly messages: number;
  /** True where the engine changed the head. The head in `rows` is the client's all the same. */
  readonly headChanged: boolean;
}

/** A row with the message that the engine was given for it. */
interface Shown {
  readonly row: ViewRow;
  readonly message: Message;
}

/**
 * Makes rows of an engine's result. All that stands before the longest common suffix of result and view is the
 * checkpoint, which may reach further back than the old one, never less far.
 * @param snapshot the messages of `rows` as the engine was given them.
 */
export function settle(
  rows: readonly ViewRow[],
  snapshot: readonly Message[],
  output: readonly Message[],
  mintUid: () => string,
): Settled {
  const shown = rows.map((row, i): Shown => ({ row, message: snapshot[i] as Message }));
  const body = shown.filter(({ row }) => row.origin !== 'head');
  const head = shown.slice(0, shown.length - body.length);
  const made = headLength(output);
  const result = output.slice(made);
  const kept = commonSuffix(body, result);
  const suffix = body.slice(body.length - kept);
  const messages = suffix[0] ? suffix[0].row.through - 1 : (rows.at(-1)?.through ?? 0);
  const origins = new Origins(body);
  const checkpointRows = result.slice(0, result.length - kept).map((message) => ({
    ...settled(message, origins.take(message), mintUid),
    origin: 'checkpoint' as const,
    through: messages,
  }));
  return {
    rows: [...head.map(({ row }) => row), ...checkpointRows, ...suffix.map(({ row }) => row)],
    checkpointRows,
    messages,
    headChanged:
      made !== head.length || head.some(({ message }, i) => !sameMessage(message, output[i] as Message)),
  };
}

/** How many of the client's rows the result ends with, unchanged. */
function commonSuffix(body: readonly Shown[], result: readonly Message[]): number {
  let count = 0;
  while (count < Math.min(body.length, result.length)) {
    const { row, message } = body[body.length - 1 - count] as Shown;
    if (row.origin !== 'client' || !isUnchanged(message, result[result.length - 1 - count] as Message)) break;
    count += 1;
  }
  return count;
}

/** An engine may leave the bookkeeping out, but what it sets there has to be kept. */
function isUnchanged(before: Message, after: Message): boolean {
  if (!sameMessage(before, after)) return false;
  return [...BOOKKEEPING].every((name) => after[name] === undefined || sameJson(before[name], after[name]));
}

/** Finds the rows that messages of a result come from: every row is taken once. */
class Origins {
  readonly #left: (Shown | undefined)[];
  /** Where the next one is likely to be. */
  #next = 0;

  constructor(body: readonly Shown[]) {
    this.#left = [...body];
  }

  /** The row of that uid, else any, that says the same. */
  take(message: Message): ViewRow | undefined {
    const uid = isFields(message) ? message.message_uid : undefined;
    const ofUid = uid === undefined ? -1 : this.#find(message, ({ row }) => row.uid === uid);
    const at = ofUid < 0 ? this.#find(message, () => true) : ofUid;
    const row = this.#left[at]?.row;
    if (row === undefined) return undefined;
    this.#left[at] = undefined;
    this.#next = at + 1;
    return row;
  }

  #find(message: Message, accepts: (one: Shown) => boolean): number {
    const fits = (one: Shown | undefined): boolean =>
      one !== undefined && accepts(one) && sameMessage(one.message, message);
    for (let i = this.#next; i < this.#left.length; i += 1) if (fits(this.#left[i])) return i;
    return this.#left.findIndex(fits);
  }
}

/** A message of the result as it is kept. What no row says is written once, here. */
function settled(message: Message, origin: ViewRow | undefined, mintUid: () => string): CheckpointRow {
  const fields: Partial<Message> = isFields(message) ? message : {};
  const { message_uid: uid, _absorbed_message_uids: absorbed, _engine_mark: mark } = fields;
  const { _tool_call_uids: toolCallUids, _tool_call_uid: toolCallUid } = fields;
  // What an engine took off a message that kept its uid is gone; a bare copy takes after its row.
  const row = uid === undefined ? origin : undefined;
  return {
    bytes: Buffer.from(origin?.bytes ?? (isFields(message) ? messageText(message) : JSON.stringify(message))),
    uid: isUid(uid) ? uid : (origin?.uid ?? mintUid()),
    absorbed: isList(absorbed) ? [...absorbed] : (row?.absorbed ?? []),
    toolCallUids: isFields(toolCallUids) ? structuredClone(toolCallUids) : row?.toolCallUids,
    toolCallUid: isUid(toolCallUid) ? toolCallUid : row?.toolCallUid,
    mark: mark === undefined ? row?.mark : JSON.stringify(mark),
  };
}

function isUid(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isUid);
}
