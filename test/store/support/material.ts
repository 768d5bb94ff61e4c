import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type {
  Checkpoint,
  CheckpointRow,
  Commit,
  ConversationRecord,
  ConversationStore,
  NodeRecord,
  PathQuery,
} from '../../../src/store/conversation-store.js';
import { PackedStore } from '../../../src/store/packed-store.js';
import { SqliteStore } from '../../../src/store/sqlite-store.js';
import { toStoreError } from '../../../src/store/store-failure.js';

export const MODEL = 'model-a';
export const ENGINE = 'compressor';

/** A path that does not exist yet, gone after the test. */
export function freshFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'incontext-store-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'data');
}

/** The store without its thread, so that its code counts as covered. */
export function inProcess(folder = ':memory:'): ConversationStore {
  const store = new SqliteStore(folder);
  return new PackedStore({
    call: async (method, ...args) => {
      try {
        return (store[method] as (...values: unknown[]) => never).apply(store, args);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    close: async () => store.close(),
  });
}

export function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}

export function conversation(
  name: string,
  tenant = 't',
  rest: Partial<ConversationRecord> = {},
): ConversationRecord {
  return {
    id: hashOf('id', name).slice(0, 32),
    tenant,
    explicitId: undefined,
    created: 1_000,
    lastSeen: 2_000,
    messages: 3,
    promptTokens: 100,
    window: 32_768,
    compressions: 0,
    ...rest,
  };
}

/** Nodes of these messages, one below the other, the first below `under`. */
export function chain(
  owner: ConversationRecord,
  messages: readonly string[],
  under?: NodeRecord,
): [NodeRecord, ...NodeRecord[]] {
  const nodes: NodeRecord[] = [];
  for (const message of messages) {
    const above = nodes.at(-1) ?? under;
    const content = hashOf('m', message);
    const hash = hashOf(owner.tenant, above?.hash ?? '', content);
    nodes.push({
      hash,
      parent: above?.hash,
      content,
      depth: above === undefined ? 0 : above.depth + 1,
      conversation: owner.id,
      uid: hashOf('uid', hash).slice(0, 32),
      absorbed: [],
      toolCallUids: undefined,
      toolCallUid: undefined,
    });
  }
  return nodes as [NodeRecord, ...NodeRecord[]];
}

export function row(bytes: string | Buffer, rest: Partial<CheckpointRow> = {}): CheckpointRow {
  return {
    bytes: Buffer.from(bytes),
    uid: '0'.repeat(32),
    absorbed: [],
    toolCallUids: undefined,
    toolCallUid: undefined,
    mark: undefined,
    ...rest,
  };
}

export function checkpoint(end: NodeRecord, rest: Partial<Checkpoint> = {}): Checkpoint {
  return {
    end: end.hash,
    model: MODEL,
    engine: ENGINE,
    conversation: end.conversation,
    messages: end.depth + 1,
    rows: [row('{"role":"user","content":"a summary"}')],
    tokensBefore: 900,
    tokensAfter: 90,
    created: 1_500,
    ...rest,
  };
}

export function commitOf(
  owner: ConversationRecord,
  nodes: readonly NodeRecord[],
  rest: Partial<Commit> = {},
): Commit {
  return { tenant: owner.tenant, conversation: owner, nodes, ...rest };
}

export function query(nodes: readonly NodeRecord[], rest: Partial<PathQuery> = {}): PathQuery {
  return {
    tenant: 't',
    hashes: nodes.map(({ hash }) => hash),
    model: MODEL,
    engine: ENGINE,
    explicitId: undefined,
    ...rest,
  };
}
