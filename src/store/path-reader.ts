import type { Database, Statement } from 'better-sqlite3';
import type { ConversationTable } from './conversation-table.js';
import { NODE_COLUMNS, type NodeRow } from './node-rows.js';
import type { PackedCheckpoint, PackedPath, PackedQuery, PackedRun } from './store-calls.js';
import { fromColumn, toColumn } from './text-column.js';

const OTHERS = 64;

const COLUMNS = NODE_COLUMNS.map((name) => `n.${name}`).join(', ');

type PathRow = [place: number, checkpoint: number | null, ...NodeRow];

interface CheckpointColumns extends Omit<PackedCheckpoint, 'rows'> {
  readonly meta: string;
  readonly bytes: Buffer;
}

/** Finds a request in the tree of its tenant. */
export class PathReader {
  readonly #conversations: ConversationTable;
  readonly #path: Statement<[string, number, string, string], PathRow>;
  readonly #below: Statement<[Record<string, unknown>], NodeRow>;
  readonly #checkpoint: Statement<[number], CheckpointColumns>;
  readonly #known: Statement<[number, string], unknown>;
  readonly #pairs: Statement<[Record<string, unknown>], NodeRow>;
  readonly #node: Statement<[number, string], NodeRow>;

  constructor(db: Database, conversations: ConversationTable) {
    this.#conversations = conversations;
    // CROSS JOIN keeps the order: the hashes first, then one look into the index for each.
    this.#path = db
      .prepare<[string, number, string, string], PathRow>(`
        SELECT h.key, c.id, ${COLUMNS}
        FROM json_each(?) h
        CROSS JOIN node n ON n.tenant = ? AND n.hash = h.value
        LEFT JOIN checkpoint c ON c.tenant = n.tenant AND c.end = n.hash AND c.model = ? AND c.engine = ?
        ORDER BY h.key`)
      .raw();
    // A queue with the newest node first goes down the newest branch before it takes up the next one.
    this.#below = db
      .prepare<[Record<string, unknown>], NodeRow>(`
        WITH RECURSIVE below (id, hash) AS (
          SELECT id, hash FROM node WHERE tenant = @tenant AND parent = @hash
          UNION ALL
          SELECT n.id, n.hash FROM below b CROSS JOIN node n ON n.tenant = @tenant AND n.parent = b.hash
          ORDER BY 1 DESC
          LIMIT @limit
        )
        SELECT ${COLUMNS} FROM below b CROSS JOIN node n ON n.id = b.id`)
      .raw();
    this.#checkpoint = db.prepare(`
      SELECT c.end, c.model, c.engine, c.conversation, c.messages, c.tokens_before AS tokensBefore,
        c.tokens_after AS tokensAfter, c.created, c.row_meta AS meta, c.row_bytes AS bytes
      FROM checkpoint c WHERE c.id = ?`);
    this.#known = db.prepare('SELECT 1 FROM node WHERE tenant = ? AND content = ? LIMIT 1');
    this.#pairs = db
      .prepare<[Record<string, unknown>], NodeRow>(`
        SELECT ${COLUMNS} FROM node n
        CROSS JOIN node p ON p.tenant = n.tenant AND p.hash = n.parent AND p.content = @before
        WHERE n.tenant = @tenant AND n.content = @last`)
      .raw();
    this.#node = db
      .prepare<[number, string], NodeRow>(`SELECT ${COLUMNS} FROM node n WHERE n.tenant = ? AND n.hash = ?`)
      .raw();
  }

  loadPath({ tenant, hashes, model, engine, explicitId }: PackedQuery): PackedPath {
    const id = this.#conversations.tenantId(tenant);
    if (id === undefined)
      return { nodes: '[]', checkpoint: undefined, conversation: undefined, others: '[]' };
    const nodes: NodeRow[] = [];
    let checkpoint: number | null = null;
    for (const [place, at, ...node] of this.#path.all(hashes, id, toColumn(model), toColumn(engine))) {
      if (place !== nodes.length) break;
      nodes.push(node);
      checkpoint = at ?? checkpoint;
    }
    const deepest = nodes.at(-1);
    const others = deepest && this.#below.all({ tenant: id, hash: deepest[0], limit: OTHERS });
    return {
      nodes: JSON.stringify(nodes),
      checkpoint: checkpoint === null ? undefined : this.#loadCheckpoint(checkpoint),
      conversation:
        (explicitId === undefined ? undefined : this.#conversations.byExplicitId(id, explicitId)) ??
        (deepest && this.#conversations.byId(deepest[4])),
      others: JSON.stringify(others ?? []),
    };
  }

  #loadCheckpoint(id: number): PackedCheckpoint | undefined {
    const row = this.#checkpoint.get(id);
    if (row === undefined) return undefined;
    const { meta, bytes, ...rest } = row;
    return {
      ...rest,
      model: fromColumn(rest.model),
      engine: fromColumn(rest.engine),
      rows: { bytes, meta },
    };
  }

  findRun(tenant: string, contents: readonly string[]): PackedRun | undefined {
    const id = this.#conversations.tenantId(tenant);
    const [before, last] = contents.slice(-2);
    if (id === undefined || before === undefined || last === undefined) return undefined;
    // Most runs that are nowhere have a message that is nowhere: the way up from a frequent one is saved.
    if (contents.some((content) => this.#known.get(id, content) === undefined)) return undefined;
    // A node has one parent: its place in the tree is that of the whole run that ends with it.
    let found: NodeRow[] | undefined;
    for (const end of this.#pairs.all({ tenant: id, before, last })) {
      const run = this.#upwards(id, end, contents);
      if (run !== undefined && found !== undefined) return undefined;
      found ??= run;
    }
    const conversation = found && this.#conversations.byId(found.at(-1)?.[4] ?? '');
    return conversation && { nodes: JSON.stringify(found), conversation };
  }

  #upwards(tenant: number, end: NodeRow, contents: readonly string[]): NodeRow[] | undefined {
    const run = [end];
    let [, parent] = end;
    for (let place = contents.length - 2; place >= 0; place -= 1) {
      const node = parent === null ? undefined : this.#node.get(tenant, parent);
      if (node === undefined || node[2] !== contents[place]) return undefined;
      run.push(node);
      [, parent] = node;
    }
    return run.reverse();
  }
}
