import type { Database, Statement } from 'better-sqlite3';
import { type ConversationDetails, type ConversationRecord, StoreError } from './conversation-store.js';
import { fromColumn, toColumn } from './text-column.js';

const LISTED = 1000;

interface ConversationRow extends Omit<ConversationRecord, 'explicitId'> {
  readonly explicitId: string | null;
}

const SELECT = `
  SELECT c.id, t.name AS tenant, c.explicit_id AS explicitId, c.created, c.last_seen AS lastSeen, c.messages,
    c.prompt_tokens AS promptTokens, c."window", c.compressions
  FROM conversation c JOIN tenant t ON t.id = c.tenant`;

/** The conversations of all tenants, and the tenants themselves. */
export class ConversationTable {
  readonly #tenant: Statement<[string], { id: number }>;
  readonly #addTenant: Statement<[string]>;
  readonly #upsert: Statement<[Record<string, unknown>]>;
  readonly #byId: Statement<[string], ConversationRow>;
  readonly #byExplicitId: Statement<[number, string], ConversationRow>;
  readonly #latest: Statement<[number], ConversationRow>;
  readonly #checkpoints: Statement<[string], ConversationDetails['checkpoints'][number]>;

  constructor(db: Database) {
    this.#tenant = db.prepare('SELECT id FROM tenant WHERE name = ?');
    this.#addTenant = db.prepare('INSERT INTO tenant (name) VALUES (?)');
    this.#upsert = db.prepare(`
      INSERT INTO conversation
        (id, tenant, explicit_id, created, last_seen, messages, prompt_tokens, "window", compressions)
      VALUES (@id, @tenant, @explicitId, @created, @lastSeen, @messages, @promptTokens, @window, @compressions)
      ON CONFLICT (id) DO UPDATE SET
        explicit_id = excluded.explicit_id, last_seen = excluded.last_seen, messages = excluded.messages,
        prompt_tokens = excluded.prompt_tokens, "window" = excluded."window",
        compressions = excluded.compressions
      WHERE tenant = excluded.tenant`);
    this.#byId = db.prepare(`${SELECT} WHERE c.id = ?`);
    // Two processes may make one each at the same moment: all must then read the same one.
    this.#byExplicitId = db.prepare(
      `${SELECT} WHERE c.tenant = ? AND c.explicit_id = ? ORDER BY c.created, c.id LIMIT 1`,
    );
    this.#latest = db.prepare(`${SELECT} ORDER BY c.last_seen DESC LIMIT ?`);
    this.#checkpoints = db.prepare(`
      SELECT messages, tokens_before AS tokensBefore, tokens_after AS tokensAfter, created
      FROM checkpoint WHERE (tenant, conversation) = (SELECT tenant, id FROM conversation WHERE id = ?)
      ORDER BY created, id`);
  }

  tenantId(tenant: string): number | undefined {
    return this.#tenant.get(toColumn(tenant))?.id;
  }

  ensureTenant(tenant: string): number {
    return this.tenantId(tenant) ?? Number(this.#addTenant.run(toColumn(tenant)).lastInsertRowid);
  }

  upsert(tenant: number, record: ConversationRecord): void {
    const explicitId = record.explicitId === undefined ? null : toColumn(record.explicitId);
    const { changes } = this.#upsert.run({ ...record, tenant, explicitId });
    if (changes === 0) throw new StoreError('the conversation is another tenant’s');
  }

  byId(id: string): ConversationRecord | undefined {
    const row = this.#byId.get(id);
    return row && toRecord(row);
  }

  byExplicitId(tenant: number, explicitId: string): ConversationRecord | undefined {
    const row = this.#byExplicitId.get(tenant, toColumn(explicitId));
    return row && toRecord(row);
  }

  list(): ConversationRecord[] {
    return this.#latest.all(LISTED).map(toRecord);
  }

  details(id: string): ConversationDetails | undefined {
    const conversation = this.byId(id);
    return conversation && { conversation, checkpoints: this.#checkpoints.all(id) };
  }
}

function toRecord(row: ConversationRow): ConversationRecord {
  const explicitId = row.explicitId === null ? undefined : fromColumn(row.explicitId);
  return { ...row, tenant: fromColumn(row.tenant), explicitId };
}
