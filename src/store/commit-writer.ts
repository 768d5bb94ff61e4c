import type { Database, Statement } from 'better-sqlite3';
import { StoreError } from './conversation-store.js';
import type { ConversationTable } from './conversation-table.js';
import type { NodeRow } from './node-rows.js';
import type { PackedCheckpoint, PackedCommit } from './store-calls.js';
import { toColumn } from './text-column.js';

/** Writes what an exchange adds. To be called in a transaction. */
export class CommitWriter {
  readonly #conversations: ConversationTable;
  readonly #find: Statement<[number, string], number>;
  readonly #add: Statement<[Record<string, unknown>]>;
  readonly #putCheckpoint: Statement<[Record<string, unknown>]>;
  readonly #putState: Statement<[string, string, string]>;

  constructor(db: Database, conversations: ConversationTable) {
    this.#conversations = conversations;
    this.#find = db
      .prepare<[number, string], number>('SELECT id FROM node WHERE tenant = ? AND hash = ?')
      .pluck();
    this.#add = db.prepare(`
      INSERT INTO node (tenant, hash, parent, content, depth, conversation, uid, extra)
      VALUES (@tenant, @hash, @above, @content, @depth, @conversation, @uid, @extra)`);
    this.#putCheckpoint = db.prepare(`
      INSERT OR REPLACE INTO checkpoint (tenant, end, model, engine, conversation, messages, tokens_before,
        tokens_after, created, row_meta, row_bytes)
      VALUES (@tenant, @at, @model, @engine, @conversation, @messages, @tokensBefore,
        @tokensAfter, @created, @meta, @bytes)`);
    this.#putState = db.prepare(`
      INSERT INTO engine_state (conversation, key, value) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET value = excluded.value`);
  }

  write({ tenant, conversation, nodes, checkpoint, engineState }: PackedCommit): void {
    const id = this.#conversations.ensureTenant(tenant);
    this.#conversations.upsert(id, conversation);
    this.#addNodes(id, JSON.parse(nodes) as NodeRow[]);
    if (checkpoint !== undefined) this.#saveCheckpoint(id, checkpoint);
    for (const [key, value] of engineState) this.#putState.run(conversation.id, toColumn(key), value);
  }

  #addNodes(tenant: number, nodes: readonly NodeRow[]): void {
    let before: { readonly hash: string; readonly id: number } | undefined;
    for (const [content, conversation, uid, extra, hash, parent, depth] of nodes) {
      let id = this.#find.get(tenant, hash);
      if (id === undefined) {
        const above = parent === null || parent === before?.hash ? before?.id : this.#place(tenant, parent);
        const node = { tenant, hash, content, depth, conversation, uid, extra };
        id = Number(this.#add.run({ ...node, above: parent === null ? null : above }).lastInsertRowid);
      }
      before = { hash, id };
    }
  }

  #saveCheckpoint(tenant: number, { rows, end, model, engine, ...rest }: PackedCheckpoint): void {
    const names = { model: toColumn(model), engine: toColumn(engine) };
    const at = this.#place(tenant, end);
    this.#putCheckpoint.run({ ...rest, ...names, at, tenant, meta: rows.meta, bytes: rows.bytes });
  }

  #place(tenant: number, hash: string): number {
    const id = this.#find.get(tenant, hash);
    if (id === undefined) throw new StoreError('a message stands below one that the store does not know');
    return id;
  }
}
