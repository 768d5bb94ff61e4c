import { LRUCache } from 'lru-cache';
import type { ContextEngine } from '../contract.js';
import { EngineInstance, type OnHookFailed } from './engine-instance.js';
import type { HostSettings } from './host-settings.js';
import { LentServices } from './lent-services.js';

const MOST_REMEMBERED = 1000;
const NO_SERVICES = new LentServices({ stored: async () => undefined, log() {} });

/** W by model and context length, as the registered engine works it out. */
export class EngineWindows {
  readonly #instance: EngineInstance;
  readonly #known = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  constructor(prototype: ContextEngine, settings: HostSettings, onHookFailed: OnHookFailed = () => {}) {
    this.#instance = new EngineInstance(prototype, NO_SERVICES, settings, onHookFailed);
  }

  /** Tokens. */
  window(model: string | undefined, contextLength: number): number {
    const key = `${contextLength} ${model ?? ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { engine } = this.#instance;
    const { threshold } = engine;
    const window = this.#instance.useModel(model ?? '', contextLength);
    // Instances may be copied from this one: a model's own threshold is none of theirs.
    engine.threshold = threshold;
    this.#known.set(key, window);
    return window;
  }
}
