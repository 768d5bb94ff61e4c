import { randomBytes } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { CommitWriter } from './commit-writer.js';
import { ConversationRemover } from './conversation-remover.js';
import type { ConversationDetails, ConversationRecord } from './conversation-store.js';
import { ConversationTable } from './conversation-table.js';
import { openDatabase } from './open-database.js';
import { PathReader } from './path-reader.js';
import type {
  PackedCommit,
  PackedPath,
  PackedQuery,
  PackedRound,
  PackedRun,
  StoreCalls,
} from './store-calls.js';
import { toColumn } from './text-column.js';

const SECRET_BYTES = 32;

interface RoundColumns {
  readonly visible: string;
  readonly meta: string;
  readonly bytes: Buffer;
}

/** The store itself, synchronous: whoever calls it waits. */
export class SqliteStore implements StoreCalls {
  readonly #db: Database;
  readonly #conversations: ConversationTable;
  readonly #paths: PathReader;
  readonly #remover: ConversationRemover;
  readonly #commits: CommitWriter;
  readonly #anyCheckpoint: Statement<[string], unknown>;
  readonly #state: Statement<[string, string], { value: string }>;
  readonly #putRound: Statement<[number, string, string, string, Uint8Array]>;
  readonly #rounds: Statement<[string, string], RoundColumns>;
  readonly #before: Statement<[number, number], { id: string }>;
  readonly #addSecret: Statement<[string, Buffer]>;
  readonly #secret: Statement<[string], { value: Buffer }>;

  constructor(folder: string) {
    const db = openDatabase(folder);
    this.#db = db;
    this.#conversations = new ConversationTable(db);
    this.#paths = new PathReader(db, this.#conversations);
    this.#remover = new ConversationRemover(db);
    this.#commits = new CommitWriter(db, this.#conversations);
    this.#anyCheckpoint = db.prepare(
      'SELECT 1 FROM checkpoint WHERE tenant = (SELECT id FROM tenant WHERE name = ?) LIMIT 1',
    );
    this.#state = db.prepare('SELECT value FROM engine_state WHERE conversation = ? AND key = ?');
    this.#putRound = db.prepare(`
      INSERT OR REPLACE INTO hidden_round (tenant, visible, conversation, row_meta, row_bytes)
      VALUES (?, ?, ?, ?, ?)`);
    this.#rounds = db.prepare(`
      SELECT r.visible, r.row_meta AS meta, r.row_bytes AS bytes
      FROM json_each(?) h CROSS JOIN hidden_round r
        ON r.tenant = (SELECT id FROM tenant WHERE name = ?) AND r.visible = h.value
      ORDER BY h.key`);
    this.#before = db.prepare('SELECT id FROM conversation WHERE last_seen < ? ORDER BY last_seen LIMIT ?');
    this.#addSecret = db.prepare('INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#secret = db.prepare('SELECT value FROM secret WHERE name = ?');
  }

  loadPath(query: PackedQuery): PackedPath {
    return this.#read(() => this.#paths.loadPath(query));
  }

  findRun(tenant: string, contents: readonly string[]): PackedRun | undefined {
    return this.#read(() => this.#paths.findRun(tenant, contents));
  }

  hasCheckpoints(tenant: string): boolean {
    return this.#anyCheckpoint.get(toColumn(tenant)) !== undefined;
  }

  commit(commit: PackedCommit): void {
    this.#write(() => this.#commits.write(commit));
  }

  engineState(conversation: string, key: string): string | undefined {
    return this.#state.get(conversation, toColumn(key))?.value;
  }

  saveHiddenRound(tenant: string, conversation: string, { visible, rows }: PackedRound): void {
    this.#write(() => {
      const id = this.#conversations.ensureTenant(tenant);
      this.#putRound.run(id, visible, conversation, rows.meta, rows.bytes);
    });
  }

  loadHiddenRounds(tenant: string, visible: readonly string[]): PackedRound[] {
    const rows = this.#rounds.all(JSON.stringify(visible), toColumn(tenant));
    return rows.map(({ meta, bytes, ...round }) => ({ ...round, rows: { meta, bytes } }));
  }

  listConversations(): ConversationRecord[] {
    return this.#conversations.list();
  }

  conversation(id: string): ConversationDetails | undefined {
    return this.#conversations.details(id);
  }

  deleteConversation(id: string): boolean {
    return this.#write(() => this.#remover.remove(id));
  }

  deleteOlderThan(time: number, limit: number): number {
    return this.#write(() => {
      const old = this.#before.all(time, limit);
      for (const { id } of old) this.#remover.remove(id);
      return old.length;
    });
  }

  secret(name: string): Buffer {
    return this.#write(() => {
      this.#addSecret.run(name, randomBytes(SECRET_BYTES));
      return this.#secret.get(name)?.value ?? Buffer.alloc(0);
    });
  }

  close(): void {
    this.#db.close();
  }

  /** One state of the database for all of it, whatever other processes write meanwhile. */
  #read<T>(work: () => T): T {
    return this.#db.transaction(work).deferred();
  }

  /** Takes the right to write at once: a transaction that read first could not wait for another process. */
  #write<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }
}
