import type { Database, Statement } from 'better-sqlite3';
import type { ConversationTable } from './conversation-table.js';
import type { PackedCheckpoint, PackedPath, PackedQuery, PackedRun } from './store-calls.js';
import { fromColumn, toColumn } from './text-column.js';

const OTHERS = 64;

/** Of whole nodes, as `NodeRow` has them. */
const NODES =
  'json_group_array(json_array(n.content, n.conversation, n.uid, n.extra, n.hash, p.hash, n.depth))';

interface CheckpointColumns extends Omit<PackedCheckpoint, 'rows'> {
  readonly meta: string;
  readonly bytes: Buffer;
}

interface Step {
  readonly id: number;
  readonly parent: number | null;
  readonly content: string;
  readonly conversation: string;
}

/** Finds a request in the tree of its tenant. SQLite packs the nodes: thousands of values need not become objects here. */
export class PathReader {
  readonly #conversations: ConversationTable;
  readonly #find: Statement<[number, string], Step>;
  readonly #step: Statement<[number], Step>;
  readonly #upwards: Statement<[number], string>;
  readonly #run: Statement<[number, number], string>;
  readonly #below: Statement<[number, number], string>;
  readonly #checkpoint: Statement<[number, string, string], CheckpointColumns>;
  readonly #known: Statement<[number, string], unknown>;
  readonly #pairs: Statement<[{ tenant: number; before: string; last: string }], Step>;

  constructor(db: Database, conversations: ConversationTable) {
    this.#conversations = conversations;
    const step = 'SELECT n.id, n.parent, n.content, n.conversation FROM node n';
    this.#find = db.prepare(`${step} WHERE n.tenant = ? AND n.hash = ?`);
    this.#step = db.prepare(`${step} WHERE n.id = ?`);
    this.#upwards = db
      .prepare<[number], string>(`
        WITH RECURSIVE up (parent, content, conversation, uid, extra) AS (
          SELECT parent, content, conversation, uid, extra FROM node WHERE id = ?
          UNION ALL
          SELECT n.parent, n.content, n.conversation, n.uid, n.extra
          FROM up CROSS JOIN node n ON n.id = up.parent
        )
        SELECT json_group_array(json_array(content, conversation, uid, extra)) FROM up`)
      .pluck();
    this.#run = db
      .prepare<[number, number], string>(`
        WITH RECURSIVE up (id, height) AS (
          SELECT ?, 1
          UNION ALL
          SELECT n.parent, up.height + 1 FROM up CROSS JOIN node n ON n.id = up.id WHERE up.height < ?
        )
        SELECT ${NODES} FROM (SELECT id FROM up ORDER BY height DESC) u
        CROSS JOIN node n ON n.id = u.id LEFT JOIN node p ON p.id = n.parent`)
      .pluck();
    // A queue with the newest node first goes down the newest branch before it takes up the next one.
    this.#below = db
      .prepare<[number, number], string>(`
        WITH RECURSIVE below (id) AS (
          SELECT id FROM node WHERE parent = ?
          UNION ALL
          SELECT n.id FROM below b CROSS JOIN node n ON n.parent = b.id
          ORDER BY 1 DESC
          LIMIT ?
        )
        SELECT ${NODES} FROM below b CROSS JOIN node n ON n.id = b.id LEFT JOIN node p ON p.id = n.parent`)
      .pluck();
    this.#checkpoint = db.prepare(`
      WITH RECURSIVE up (id) AS (
        SELECT ?
        UNION ALL
        SELECT n.parent FROM up CROSS JOIN node n ON n.id = up.id WHERE n.parent IS NOT NULL
      )
      SELECT n.hash AS end, c.model, c.engine, c.conversation, c.messages, c.tokens_before AS tokensBefore,
        c.tokens_after AS tokensAfter, c.created, c.row_meta AS meta, c.row_bytes AS bytes
      FROM up CROSS JOIN checkpoint c ON c.end = up.id AND c.model = ? AND c.engine = ?
      CROSS JOIN node n ON n.id = c.end
      LIMIT 1`);
    this.#known = db.prepare('SELECT 1 FROM node WHERE tenant = ? AND content = ? LIMIT 1');
    this.#pairs = db.prepare(`
      ${step} CROSS JOIN node p ON p.id = n.parent AND p.content = @before
      WHERE n.tenant = @tenant AND n.content = @last`);
  }

  loadPath({ tenant, hashes, model, engine, explicitId }: PackedQuery): PackedPath {
    const id = this.#conversations.tenantId(tenant);
    const deepest = id === undefined ? undefined : this.#deepest(id, JSON.parse(hashes) as string[]);
    const named =
      id === undefined || explicitId === undefined
        ? undefined
        : this.#conversations.byExplicitId(id, explicitId);
    if (deepest === undefined)
      return { nodes: '[]', checkpoint: undefined, conversation: named, others: '[]' };
    return {
      nodes: this.#upwards.get(deepest.id) ?? '[]',
      checkpoint: unpacked(this.#checkpoint.get(deepest.id, toColumn(model), toColumn(engine))),
      conversation: named ?? this.#conversations.byId(deepest.conversation),
      others: this.#below.get(deepest.id, OTHERS) ?? '[]',
    };
  }

  /** What is known of a path is a beginning of it, so that halving finds its end. Most requests add a few messages. */
  #deepest(tenant: number, hashes: readonly string[]): Step | undefined {
    let found: Step | undefined;
    let [known, unknown] = [0, hashes.length];
    let place = unknown - 1;
    while (known < unknown) {
      const node = this.#find.get(tenant, hashes[place] ?? '');
      if (node === undefined) unknown = place;
      else {
        found = node;
        known = place + 1;
      }
      place = Math.floor((known + unknown) / 2);
    }
    return found;
  }

  findRun(tenant: string, contents: readonly string[]): PackedRun | undefined {
    const id = this.#conversations.tenantId(tenant);
    const [before, last] = contents.slice(-2);
    if (id === undefined || before === undefined || last === undefined) return undefined;
    // Most runs that are nowhere have a message that is nowhere: the way up from a frequent one is saved.
    if (contents.some((content) => this.#known.get(id, content) === undefined)) return undefined;
    // A node has one parent: its place in the tree is that of the whole run that ends with it.
    const ends = this.#pairs.all({ tenant: id, before, last }).filter((end) => this.#endsRun(end, contents));
    const [end] = ends;
    const conversation =
      end === undefined || ends.length > 1 ? undefined : this.#conversations.byId(end.conversation);
    return conversation && end && { nodes: this.#run.get(end.id, contents.length) ?? '[]', conversation };
  }

  #endsRun({ parent }: Step, contents: readonly string[]): boolean {
    let above = parent;
    for (let place = contents.length - 2; place >= 0; place -= 1) {
      const node = above === null ? undefined : this.#step.get(above);
      if (node === undefined || node.content !== contents[place]) return false;
      above = node.parent;
    }
    return true;
  }
}

function unpacked(row: CheckpointColumns | undefined): PackedCheckpoint | undefined {
  if (row === undefined) return undefined;
  const { meta, bytes, ...rest } = row;
  return { ...rest, model: fromColumn(rest.model), engine: fromColumn(rest.engine), rows: { bytes, meta } };
}
