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
import { packNodes, unpackNodes, unpackPath } from './node-rows.js';
import type { PackedRows } from './packed-rows.js';
import { packRows, unpackRows } from './packed-rows.js';
import type { StoreCalls } from './store-calls.js';

/** Where the calls are carried out, in their order. */
export interface StoreChannel {
  call<M extends keyof StoreCalls>(
    method: M,
    ...args: Parameters<StoreCalls[M]>
  ): Promise<ReturnType<StoreCalls[M]>>;
  /** After everything that was asked before. */
  close(): Promise<void>;
}

/** Conversations that are deleted in one go: other calls have their turn in between. */
const DELETED_AT_ONCE = 4;

/** The store as others see it: packs what it is asked, and unpacks the answers. */
export class PackedStore implements ConversationStore {
  readonly #channel: StoreChannel;

  constructor(channel: StoreChannel) {
    this.#channel = channel;
  }

  async loadPath(query: PathQuery): Promise<StoredPath> {
    const path = await this.#channel.call('loadPath', { ...query, hashes: JSON.stringify(query.hashes) });
    return {
      nodes: unpackPath(path.nodes, query.hashes),
      checkpoint: path.checkpoint && withRows(path.checkpoint),
      conversation: path.conversation,
      others: unpackNodes(path.others),
    };
  }

  async findRun(tenant: string, contents: readonly string[]): Promise<StoredRun | undefined> {
    const run = await this.#channel.call('findRun', tenant, contents);
    return run && { nodes: unpackNodes(run.nodes), conversation: run.conversation };
  }

  hasCheckpoints(tenant: string): Promise<boolean> {
    return this.#channel.call('hasCheckpoints', tenant);
  }

  async commit({ tenant, conversation, nodes, checkpoint, engineState }: Commit): Promise<void> {
    await this.#channel.call('commit', {
      tenant,
      conversation,
      nodes: packNodes(nodes),
      checkpoint: checkpoint && packed<Checkpoint>(checkpoint),
      engineState: [...(engineState ?? [])],
    });
  }

  engineState(conversation: string, key: string): Promise<string | undefined> {
    return this.#channel.call('engineState', conversation, key);
  }

  async saveHiddenRound(tenant: string, conversation: string, round: HiddenRound): Promise<void> {
    await this.#channel.call('saveHiddenRound', tenant, conversation, packed<HiddenRound>(round));
  }

  async loadHiddenRounds(tenant: string, visible: readonly string[]): Promise<readonly HiddenRound[]> {
    return (await this.#channel.call('loadHiddenRounds', tenant, visible)).map(withRows);
  }

  listConversations(): Promise<readonly ConversationRecord[]> {
    return this.#channel.call('listConversations');
  }

  conversation(id: string): Promise<ConversationDetails | undefined> {
    return this.#channel.call('conversation', id);
  }

  deleteConversation(id: string): Promise<boolean> {
    return this.#channel.call('deleteConversation', id);
  }

  async deleteOlderThan(time: number): Promise<number> {
    let deleted = 0;
    for (;;) {
      const some = await this.#channel.call('deleteOlderThan', time, DELETED_AT_ONCE);
      deleted += some;
      if (some < DELETED_AT_ONCE) return deleted;
    }
  }

  async secret(name: string): Promise<Buffer> {
    const { buffer, byteOffset, byteLength } = await this.#channel.call('secret', name);
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}

function packed<T extends { readonly rows: readonly CheckpointRow[] }>({ rows, ...rest }: T) {
  return { ...rest, rows: packRows(rows) };
}

function withRows<T extends { readonly rows: PackedRows }>({ rows, ...rest }: T) {
  return { ...rest, rows: unpackRows(rows) };
}
