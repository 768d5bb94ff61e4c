/**
 * A chat message as an engine sees it: the client's JSON, and the bookkeeping members of seed 000 ("Stable message
 * identity"). The bookkeeping never goes upstream.
 */
export interface Message {
  role: string;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
  /** 32 hex digits: the identity of the message in its place. Absent while the message has none yet. */
  message_uid?: string;
  /** The uids of messages that were folded into this one, in the order of their text. */
  _absorbed_message_uids?: readonly string[];
  /** Uid by tool-call id; a list where one id stands for several calls, in the order of `tool_calls`. */
  _tool_call_uids?: Readonly<Record<string, string | readonly string[]>>;
  /** On a tool's result: the uid of the call that it answers. */
  _tool_call_uid?: string;
  /**
   * JSON of the engine's own that stays with a message it authored: kept in the checkpoint, given back with the
   * message in every later pass, never sent. A client's member of that name is not shown to engines.
   */
  _engine_mark?: unknown;
  [member: string]: unknown;
}

/** Members of a message that are bookkeeping: not counted, not compared, not sent. */
export const BOOKKEEPING: ReadonlySet<string> = new Set([
  'message_uid',
  '_absorbed_message_uids',
  '_tool_call_uids',
  '_tool_call_uid',
  '_engine_mark',
]);

/** The `usage` of an answer as the upstream reports it. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly [member: string]: unknown;
}

/** The leading run of system and developer messages: the client's own, in no checkpoint. */
export function headLength(messages: readonly Pick<Message, 'role'>[]): number {
  const end = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  return end < 0 ? messages.length : end;
}
