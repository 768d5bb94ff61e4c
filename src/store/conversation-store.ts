/** A message in its place: one node in the tree of all requests of a tenant. */
export interface NodeRecord {
  /** The chain hash h: over the tenant, the parent's hash and the message. 32 bytes in base64url. */
  readonly hash: string;
  /** The parent's chain hash; `undefined` for the first message after the head. */
  readonly parent: string | undefined;
  /** The hash m of the message alone. */
  readonly content: string;
  /** How many messages stand before it, the head not counted. */
  readonly depth: number;
  readonly conversation: string;
  /** 32 hex digits. */
  readonly uid: string;
  readonly absorbed: readonly string[];
  readonly toolCallUids: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly toolCallUid: string | undefined;
}

/** A message of a checkpoint: rendered JSON, and what belongs to it but never goes upstream. */
export interface CheckpointRow {
  readonly bytes: Buffer;
  readonly uid: string;
  readonly absorbed: readonly string[];
  readonly toolCallUids: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly toolCallUid: string | undefined;
  /** JSON text of the engine's mark. */
  readonly mark: string | undefined;
}

/** What stands in a view for the first messages of a path. */
export interface Checkpoint {
  /** The chain hash of the last message that it stands for. */
  readonly end: string;
  readonly model: string;
  readonly engine: string;
  readonly conversation: string;
  /** How many of the client's messages it stands for, the head not counted. */
  readonly messages: number;
  readonly rows: readonly CheckpointRow[];
  /** P of the client's request when it was made, and P of what was sent in its place. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

export interface ConversationRecord {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** The id that the client gave it, if any. */
  readonly explicitId: string | undefined;
  readonly created: number;
  readonly lastSeen: number;
  /** Messages of the last request, the head included. */
  readonly messages: number;
  readonly promptTokens: number;
  readonly window: number;
  readonly compressions: number;
}

export interface PathQuery {
  readonly tenant: string;
  /** The chain hashes of a request's messages, first to last. */
  readonly hashes: readonly string[];
  readonly model: string;
  readonly engine: string;
  readonly explicitId: string | undefined;
}

export interface StoredPath {
  /** The known nodes of the path, first to last: always a beginning of it. */
  readonly nodes: readonly NodeRecord[];
  /** The deepest one on the path for that model and engine. */
  readonly checkpoint: Checkpoint | undefined;
  /** The conversation of the deepest known node, or the one of the explicit id. */
  readonly conversation: ConversationRecord | undefined;
  /** What follows the deepest known node on other paths: its children and theirs, the newest branch first, at most 64. */
  readonly others: readonly NodeRecord[];
}

/** Nodes that follow each other, as a request without its former head repeats them. */
export interface StoredRun {
  readonly nodes: readonly NodeRecord[];
  readonly conversation: ConversationRecord;
}

/** What one exchange adds. All of it is written in one transaction, or none. */
export interface Commit {
  readonly tenant: string;
  readonly conversation: ConversationRecord;
  /** Those that are known already are left as they are. */
  readonly nodes: readonly NodeRecord[];
  readonly checkpoint?: Checkpoint | undefined;
  /** What the engine set during the pass: JSON text by key. */
  readonly engineState?: ReadonlyMap<string, string> | undefined;
}

export interface ConversationDetails {
  readonly conversation: ConversationRecord;
  readonly checkpoints: readonly Pick<Checkpoint, 'messages' | 'tokensBefore' | 'tokensAfter' | 'created'>[];
}

/** A round that the proxy ran itself: what stands upstream in place of a message that the client was shown. */
export interface HiddenRound {
  /** The chain hash of the message as the client sends it back. */
  readonly visible: string;
  readonly rows: readonly CheckpointRow[];
}

/**
 * Where conversations are kept. Coarse and asynchronous, and free of any database's terms, so that a server shared by
 * several proxies can stand behind it. Every method rejects with `StoreError` where the store fails.
 */
export interface ConversationStore {
  loadPath(query: PathQuery): Promise<StoredPath>;
  /** The one place in the tenant's tree where these contents (m, at least two) follow each other; else `undefined`. */
  findRun(tenant: string, contents: readonly string[]): Promise<StoredRun | undefined>;
  hasCheckpoints(tenant: string): Promise<boolean>;
  commit(commit: Commit): Promise<void>;
  engineState(conversation: string, key: string): Promise<string | undefined>;
  saveHiddenRound(tenant: string, conversation: string, round: HiddenRound): Promise<void>;
  loadHiddenRounds(tenant: string, visible: readonly string[]): Promise<readonly HiddenRound[]>;
  /** The most recently seen first, at most 1000. */
  listConversations(): Promise<readonly ConversationRecord[]>;
  conversation(id: string): Promise<ConversationDetails | undefined>;
  /** With its nodes, checkpoints, hidden rounds and engine state. False where there is none of that id. */
  deleteConversation(id: string): Promise<boolean>;
  /** Deletes what was last seen before that time, in milliseconds since the epoch. @returns how many. */
  deleteOlderThan(time: number): Promise<number>;
  /** A random key of that name, made at its first use and kept with the data. 32 bytes. */
  secret(name: string): Promise<Buffer>;
  close(): Promise<void>;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
}
