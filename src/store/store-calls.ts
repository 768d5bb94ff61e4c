import type {
  Checkpoint,
  ConversationDetails,
  ConversationRecord,
  HiddenRound,
  PathQuery,
} from './conversation-store.js';
import type { PackedRows } from './packed-rows.js';

/**
 * What the thread with the database does, in shapes that are cheap to hand over: nodes and hashes are one JSON text,
 * rows one piece of memory.
 */
export interface StoreCalls {
  loadPath(query: PackedQuery): PackedPath;
  findRun(tenant: string, contents: readonly string[]): PackedRun | undefined;
  hasCheckpoints(tenant: string): boolean;
  commit(commit: PackedCommit): void;
  engineState(conversation: string, key: string): string | undefined;
  saveHiddenRound(tenant: string, conversation: string, round: PackedRound): void;
  loadHiddenRounds(tenant: string, visible: readonly string[]): readonly PackedRound[];
  listConversations(): readonly ConversationRecord[];
  conversation(id: string): ConversationDetails | undefined;
  deleteConversation(id: string): boolean;
  /** Deletes at most `limit` of those last seen before that time, the oldest first. @returns how many. */
  deleteOlderThan(time: number, limit: number): number;
  secret(name: string): Uint8Array;
  close(): void;
}

export interface PackedQuery extends Omit<PathQuery, 'hashes'> {
  /** A JSON array. */
  readonly hashes: string;
}

export type PackedRound = Omit<HiddenRound, 'rows'> & { readonly rows: PackedRows };
export type PackedCheckpoint = Omit<Checkpoint, 'rows'> & { readonly rows: PackedRows };

export interface PackedPath {
  /** The deepest one first, without their places. */
  readonly nodes: string;
  readonly checkpoint: PackedCheckpoint | undefined;
  readonly conversation: ConversationRecord | undefined;
  readonly others: string;
}

export interface PackedRun {
  readonly nodes: string;
  readonly conversation: ConversationRecord;
}

export interface PackedCommit {
  readonly tenant: string;
  readonly conversation: ConversationRecord;
  readonly nodes: string;
  readonly checkpoint: PackedCheckpoint | undefined;
  readonly engineState: readonly (readonly [key: string, value: string])[];
}

/** One call on its way to the thread; its answer has the same number. */
export interface CallMessage {
  readonly id: number;
  readonly method: keyof StoreCalls;
  readonly args: readonly unknown[];
}

export interface AnswerMessage {
  readonly id: number;
  readonly value?: unknown;
  /** The message of a `StoreError`. */
  readonly error?: string;
}

/** The number of the answer that says whether the store could be opened. */
export const OPENED = 0;

/** The memory in these values that nothing else shares: it can change threads without being copied. */
export function ownMemory(value: unknown): ArrayBuffer[] {
  if (value instanceof Uint8Array) {
    const { buffer, byteLength } = value;
    return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(ownMemory);
}
