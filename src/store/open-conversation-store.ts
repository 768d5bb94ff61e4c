import type { ConversationStore } from './conversation-store.js';
import { PackedStore } from './packed-store.js';
import { StoreThread } from './store-thread.js';

export interface StoreOptions {
  /** Where the data is kept, made where it is missing; `:memory:` keeps it as long as the process. */
  readonly folder: string;
}

/**
 * Opens the store of a folder: SQLite, in a thread of its own. Several processes may have the same one open.
 * @throws StoreError whose message says what is wrong with the folder or the file.
 */
export async function openConversationStore({ folder }: StoreOptions): Promise<ConversationStore> {
  return new PackedStore(await StoreThread.open(folder));
}
