import type { Database, Statement } from 'better-sqlite3';

interface Place {
  readonly id: number;
  readonly parent: number | null;
}

/** What of another conversation stands on a node. */
interface Foothold {
  readonly id: number;
  readonly heir: string;
}

type Named = [{ tenant: number; conversation: string }];

/** Removes a conversation without taking the ground from those that branch off it. To be called in a transaction. */
export class ConversationRemover {
  readonly #tenant: Statement<[string], { tenant: number }>;
  readonly #places: Statement<Named, Place>;
  readonly #footholds: Statement<Named, Foothold>;
  readonly #handOver: readonly Statement<[{ id: number; heir: string; conversation: string }]>[];
  readonly #remove: readonly Statement<Named>[];

  constructor(db: Database) {
    this.#tenant = db.prepare('SELECT tenant FROM conversation WHERE id = ?');
    this.#places = db.prepare(
      'SELECT id, parent FROM node WHERE tenant = @tenant AND conversation = @conversation',
    );
    this.#footholds = db.prepare(`
      WITH own (id, hash) AS (SELECT id, hash FROM node WHERE tenant = @tenant AND conversation = @conversation),
      foothold (id, heir) AS (
        SELECT o.id, n.conversation FROM own o CROSS JOIN node n ON n.parent = o.id
        UNION
        SELECT o.id, c.conversation FROM own o CROSS JOIN checkpoint c ON c.end = o.id
        UNION
        SELECT o.id, r.conversation FROM own o
          CROSS JOIN hidden_round r ON r.tenant = @tenant AND r.visible = o.hash
      )
      SELECT f.id, f.heir FROM foothold f JOIN conversation c ON c.id = f.heir
      WHERE f.heir <> @conversation
      ORDER BY c.last_seen DESC, c.id`);
    this.#handOver = [
      'node SET conversation = @heir WHERE id = @id',
      'checkpoint SET conversation = @heir WHERE end = @id AND conversation = @conversation',
      `hidden_round SET conversation = @heir WHERE conversation = @conversation
        AND (tenant, visible) = (SELECT tenant, hash FROM node WHERE id = @id)`,
    ].map((words) => db.prepare(`UPDATE ${words}`));
    this.#remove = [
      'checkpoint WHERE tenant = @tenant AND conversation = @conversation',
      'hidden_round WHERE tenant = @tenant AND conversation = @conversation',
      'node WHERE tenant = @tenant AND conversation = @conversation',
      'engine_state WHERE conversation = @conversation',
      'conversation WHERE tenant = @tenant AND id = @conversation',
      `blob WHERE tenant = @tenant AND @conversation IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM conversation WHERE tenant = @tenant)`,
      `tenant WHERE id = @tenant AND @conversation IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM conversation WHERE tenant = @tenant)`,
    ].map((words) => db.prepare(`DELETE FROM ${words}`));
  }

  /** False where there is none of that id. */
  remove(conversation: string): boolean {
    const tenant = this.#tenant.get(conversation)?.tenant;
    if (tenant === undefined) return false;
    for (const [id, heir] of this.#heirs({ tenant, conversation })) {
      for (const statement of this.#handOver) statement.run({ id, heir, conversation });
    }
    for (const statement of this.#remove) statement.run({ tenant, conversation });
    return true;
  }

  /**
   * The nodes that other conversations stand on, each with the one that gets it, with its checkpoint and its hidden
   * round: of several the one seen last.
   */
  #heirs(named: Named[0]): Map<number, string> {
    const heirs = new Map<number, string>();
    const footholds = this.#footholds.all(named);
    if (footholds.length === 0) return heirs;
    const parents = new Map(this.#places.all(named).map(({ id, parent }) => [id, parent]));
    for (const { id, heir } of footholds) {
      // Above a node that has its heir all have theirs.
      let at: number | null | undefined = id;
      while (typeof at === 'number' && parents.has(at) && !heirs.has(at)) {
        heirs.set(at, heir);
        at = parents.get(at);
      }
    }
    return heirs;
  }
}
