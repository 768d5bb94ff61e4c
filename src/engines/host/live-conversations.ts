import { LRUCache } from 'lru-cache';
import type { LiveConversation } from './live-conversation.js';

/** The conversations that have an engine in this process, by id and by the last message of their last request. */
export class LiveConversations {
  readonly #byId: LRUCache<string, LiveConversation>;
  readonly #byLeaf = new Map<string, LiveConversation>();

  /** @param onGone called for each conversation that is put away: idle for too long, one too many, or deleted. */
  constructor(most: number, idleSeconds: number, onGone: (conversation: LiveConversation) => void) {
    this.#byId = new LRUCache({
      max: most,
      ttl: idleSeconds * 1000,
      updateAgeOnGet: true,
      ttlResolution: 100,
      dispose: (conversation, _id, reason) => {
        if (reason === 'set') return;
        this.#forgetLeaf(conversation);
        onGone(conversation);
      },
    });
  }

  get(id: string): LiveConversation | undefined {
    return this.#byId.get(id);
  }

  /** Without making it any younger: to be looked at is not to go on. */
  peek(id: string): LiveConversation | undefined {
    return this.#byId.peek(id);
  }

  add(conversation: LiveConversation): void {
    this.#byId.set(conversation.id, conversation);
  }

  /** Takes over another path for a conversation. */
  follow(conversation: LiveConversation, path: LiveConversation['path']): void {
    this.#forgetLeaf(conversation);
    conversation.path = path;
    const { leaf } = conversation;
    if (leaf !== undefined) this.#byLeaf.set(leaf, conversation);
  }

  /** The conversation whose last request is a beginning of this path. Hashes first to last. */
  grownFrom(path: readonly { readonly hash: string }[]): LiveConversation | undefined {
    for (let i = path.length - 1; i >= 0; i -= 1) {
      const found = this.#byLeaf.get((path[i] as { hash: string }).hash);
      if (found?.path.length !== i + 1) continue;
      const live = this.#byId.get(found.id);
      if (live !== undefined) return live;
    }
    return undefined;
  }

  all(): LiveConversation[] {
    return [...this.#byId.values()];
  }

  /** For good: what its exchanges still write is dropped. */
  remove(id: string): boolean {
    const conversation = this.#byId.get(id);
    if (conversation !== undefined) conversation.isDeleted = true;
    return this.#byId.delete(id);
  }

  /** Puts away what was idle for too long. */
  purge(): void {
    this.#byId.purgeStale();
  }

  clear(): void {
    this.#byId.clear();
  }

  #forgetLeaf(conversation: LiveConversation): void {
    const { leaf } = conversation;
    if (leaf !== undefined && this.#byLeaf.get(leaf) === conversation) this.#byLeaf.delete(leaf);
  }
}
