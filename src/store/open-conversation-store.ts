import type { ConversationStore } from './conversation-store.js';
import { PackedStore } from './packed-store.js';
import { type StoreOptions, StoreThread } from './store-thread.js';

/**
 * Opens the store of a folder: SQLite, in a thread of its own. Several processes may have the same one open.
 * @throws StoreError whose message says what is wrong with the folder or the file.
 */
export async function openConversationStore(options: StoreOptions): Promise<ConversationStore> {
  return new PackedStore(await StoreThread.open(options));
}
