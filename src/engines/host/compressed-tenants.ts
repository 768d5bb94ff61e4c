import { LRUCache } from 'lru-cache';

const MOST_TENANTS = 100_000;

/** Which tenants have a checkpoint. The store is asked once for each, so that one-shot traffic costs nothing. */
export class CompressedTenants {
  readonly #known = new LRUCache<string, boolean>({ max: MOST_TENANTS });

  /** @param ask gives `undefined` where the store fails. */
  constructor(private readonly ask: (tenant: string) => Promise<boolean | undefined>) {}

  async has(tenant: string): Promise<boolean> {
    const known = this.#known.get(tenant);
    if (known !== undefined) return known;
    const found = await this.ask(tenant);
    // A store that fails says nothing, and a checkpoint may have been made meanwhile.
    if (found !== undefined && !this.#known.has(tenant)) this.#known.set(tenant, found);
    return this.#known.get(tenant) ?? false;
  }

  add(tenant: string): void {
    this.#known.set(tenant, true);
  }
}
