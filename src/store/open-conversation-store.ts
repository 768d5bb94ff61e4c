import type {
  Checkpoint,
  CheckpointRow,
  Commit,
  ConversationDetails,
  ConversationRecord,
  ConversationStore,
  HiddenRound,
  PathQuery,
  StoredPath,
  StoredRun,
} from './conversation-store.js';
import { packNodes, unpackNodes } from './node-rows.js';
import type { PackedRows } from './packed-rows.js';
import { packRows, unpackRows } from './packed-rows.js';
import { StoreThread } from './store-thread.js';

export interface StoreOptions {
  /** Where the data is kept, made where it is missing; `:memory:` keeps it as long as the process. */
  readonly folder: string;
}

/** Conversations that are deleted in one go: other calls have their turn in between. */
const DELETED_AT_ONCE = 25;

/**
 * Opens the store of a folder: SQLite, in a thread of its own. Several processes may have the same one open.
 * @throws StoreError whose message says what is wrong with the folder or the file.
 */
export async function openConversationStore({ folder }: StoreOptions): Promise<ConversationStore> {
  return new ThreadedStore(await StoreThread.open(folder));
}

class ThreadedStore implements ConversationStore {
  constructor(readonly thread: StoreThread) {}

  async loadPath(query: PathQuery): Promise<StoredPath> {
    const path = await this.thread.call('loadPath', { ...query, hashes: JSON.stringify(query.hashes) });
    return {
      nodes: unpackNodes(path.nodes),
      checkpoint: path.checkpoint && withRows(path.checkpoint),
      conversation: path.conversation,
      others: unpackNodes(path.others),
    };
  }

  async findRun(tenant: string, contents: readonly string[]): Promise<StoredRun | undefined> {
    const run = await this.thread.call('findRun', tenant, contents);
    return run && { nodes: unpackNodes(run.nodes), conversation: run.conversation };
  }

  hasCheckpoints(tenant: string): Promise<boolean> {
    return this.thread.call('hasCheckpoints', tenant);
  }

  async commit({ tenant, conversation, nodes, checkpoint, engineState }: Commit): Promise<void> {
    await this.thread.call('commit', {
      tenant,
      conversation,
      nodes: packNodes(nodes),
      checkpoint: checkpoint && packed<Checkpoint>(checkpoint),
      engineState: [...(engineState ?? [])],
    });
  }

  engineState(conversation: string, key: string): Promise<string | undefined> {
    return this.thread.call('engineState', conversation, key);
  }

  async saveHiddenRound(tenant: string, conversation: string, round: HiddenRound): Promise<void> {
    await this.thread.call('saveHiddenRound', tenant, conversation, packed<HiddenRound>(round));
  }

  async loadHiddenRounds(tenant: string, visible: readonly string[]): Promise<readonly HiddenRound[]> {
    return (await this.thread.call('loadHiddenRounds', tenant, visible)).map(withRows);
  }

  listConversations(): Promise<readonly ConversationRecord[]> {
    return this.thread.call('listConversations');
  }

  conversation(id: string): Promise<ConversationDetails | undefined> {
    return this.thread.call('conversation', id);
  }

  deleteConversation(id: string): Promise<boolean> {
    return this.thread.call('deleteConversation', id);
  }

  async deleteOlderThan(time: number): Promise<number> {
    let deleted = 0;
    for (;;) {
      const some = await this.thread.call('deleteOlderThan', time, DELETED_AT_ONCE);
      deleted += some;
      if (some < DELETED_AT_ONCE) return deleted;
    }
  }

  async secret(name: string): Promise<Buffer> {
    const { buffer, byteOffset, byteLength } = await this.thread.call('secret', name);
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}

function packed<T extends { readonly rows: readonly CheckpointRow[] }>({ rows, ...rest }: T) {
  return { ...rest, rows: packRows(rows) };
}

function withRows<T extends { readonly rows: PackedRows }>({ rows, ...rest }: T) {
  return { ...rest, rows: unpackRows(rows) };
}
