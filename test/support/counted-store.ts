import type { ConversationStore } from '../../src/store/conversation-store.js';
import { StoreError } from '../../src/store/conversation-store.js';
import { openConversationStore } from '../../src/store/open-conversation-store.js';

export type StoreMethod = keyof ConversationStore;

export interface CountedStore {
  readonly store: ConversationStore;
  /** Its calls, in their order; without those of a proxy's start. */
  readonly calls: StoreMethod[];
  /** The methods that fail from now on. */
  failing: ReadonlySet<StoreMethod>;
  /** Called before each call is passed on. */
  before: (method: StoreMethod) => Promise<void> | void;
}

const AT_START: ReadonlySet<string> = new Set(['secret', 'deleteOlderThan', 'close']);

/** A real store that tells of its calls, and fails where a test says so. */
export async function countedStore(data: string): Promise<CountedStore> {
  const real = await openConversationStore({ folder: data });
  const counted: { -readonly [K in keyof CountedStore]: CountedStore[K] } = {
    store: real,
    calls: [],
    failing: new Set(),
    before() {},
  };
  counted.store = new Proxy(real, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        if (!AT_START.has(String(name))) counted.calls.push(name as StoreMethod);
        await counted.before(name as StoreMethod);
        if (counted.failing.has(name as StoreMethod)) throw new StoreError('the disk is full');
        return await method.apply(target, args);
      };
    },
  });
  return counted;
}
