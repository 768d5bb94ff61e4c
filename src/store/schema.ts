import type { Database } from 'better-sqlite3';
import { StoreError } from './conversation-store.js';

/**
 * The first schema. Chain hashes and contents are kept by tenant, so that no statement without a tenant can find any;
 * the foreign keys over tenant and conversation hold what is written to the same rule. A node points to its parent by
 * number, and has one: what is known of a path is always a beginning of it, and its rows lie side by side.
 */
const FIRST = `
  CREATE TABLE tenant (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE conversation (
    id TEXT NOT NULL PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    explicit_id TEXT,
    created INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    "window" INTEGER NOT NULL,
    compressions INTEGER NOT NULL,
    UNIQUE (tenant, id)
  ) STRICT;
  CREATE INDEX conversation_last_seen ON conversation (last_seen);
  CREATE INDEX conversation_explicit_id ON conversation (tenant, explicit_id) WHERE explicit_id IS NOT NULL;

  CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    hash TEXT NOT NULL,
    parent INTEGER REFERENCES node (id),
    content TEXT NOT NULL,
    depth INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    uid TEXT NOT NULL,
    extra TEXT,
    UNIQUE (tenant, hash),
    FOREIGN KEY (tenant, conversation) REFERENCES conversation (tenant, id)
  ) STRICT;
  CREATE INDEX node_parent ON node (parent);
  CREATE INDEX node_content ON node (tenant, content);
  CREATE INDEX node_conversation ON node (tenant, conversation);

  CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    end INTEGER NOT NULL REFERENCES node (id),
    model TEXT NOT NULL,
    engine TEXT NOT NULL,
    conversation TEXT NOT NULL,
    messages INTEGER NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    created INTEGER NOT NULL,
    row_meta TEXT NOT NULL,
    row_bytes BLOB NOT NULL,
    UNIQUE (end, model, engine),
    FOREIGN KEY (tenant, conversation) REFERENCES conversation (tenant, id)
  ) STRICT;
  CREATE INDEX checkpoint_conversation ON checkpoint (tenant, conversation);

  CREATE TABLE hidden_round (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    visible TEXT NOT NULL,
    conversation TEXT NOT NULL,
    row_meta TEXT NOT NULL,
    row_bytes BLOB NOT NULL,
    UNIQUE (tenant, visible),
    FOREIGN KEY (tenant, conversation) REFERENCES conversation (tenant, id)
  ) STRICT;
  CREATE INDEX hidden_round_conversation ON hidden_round (tenant, conversation);

  CREATE TABLE engine_state (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (conversation, key)
  ) STRICT;

  CREATE TABLE blob (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    content TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, content)
  ) STRICT;

  CREATE TABLE secret (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT;
`;

/** The n-th one makes schema n of schema n - 1. One that was released is never changed. */
export const MIGRATIONS: readonly string[] = [FIRST];

/** Brings a database up to date: one transaction, or nothing. @throws StoreError for one that is not of ours. */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  if (version(db) === migrations.length) return;
  const bringUp = db.transaction(() => {
    // Read again: another process may have been faster.
    const from = version(db);
    if (from > migrations.length)
      throw new StoreError(
        `the store was written by a newer version (schema ${from}, this one knows ${migrations.length})`,
      );
    if (from === 0 && !isEmpty(db)) throw new StoreError('the store is a database of another program');
    for (const step of migrations.slice(from)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
  bringUp.immediate();
}

function version(db: Database): number {
  return db.prepare('PRAGMA user_version').pluck().get() as number;
}

function isEmpty(db: Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}
