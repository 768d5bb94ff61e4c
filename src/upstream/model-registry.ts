import { LRUCache } from 'lru-cache';
import type { ModelDescription } from '../backends/contract.js';
import { effectiveReserve } from '../budget/window.js';
import type { Settings } from '../config/settings.js';

/** What is in force for one model. Token counts. */
export interface ModelBudget {
  /** The upstream's id of the model; `undefined` where the upstream has not named any yet. */
  readonly id: string | undefined;
  readonly contextLength: number | undefined;
  /** True where the operator stated the context length. */
  readonly configured: boolean;
  readonly reserve: number;
  readonly margin: number;
  readonly operatorCap: number | undefined;
}

const ALIASES_REMEMBERED = 1000;

/** The models of the upstream and their context lengths: configured, listed by the upstream, or reported with a count. */
export class ModelRegistry {
  readonly #settings: Settings;
  #listed: readonly ModelDescription[] = [];
  /** Lengths that counts reported for names that the upstream does not list: aliases, LoRA adapters. */
  readonly #reported = new LRUCache<string, number>({ max: ALIASES_REMEMBERED });

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Takes over what the upstream lists, its first model first. What counts reported stands until the list changes:
   * then the upstream is another one than before.
   */
  list(models: readonly ModelDescription[]): void {
    const changed = JSON.stringify(models) !== JSON.stringify(this.#listed);
    this.#listed = models;
    if (changed) this.#reported.clear();
  }

  /** Takes over the length that a count reported. */
  adopt(model: string | undefined, contextLength: number): void {
    this.#reported.set(model ?? this.#listed[0]?.id ?? '', contextLength);
  }

  /** What is in force for the model that a request names; without a name: the upstream's first model. */
  resolve(model: string | undefined): ModelBudget {
    const id = model ?? this.#listed[0]?.id;
    const own = id === undefined ? undefined : this.#settings.models.get(id);
    const { budget } = this.#settings;
    const configured = own?.contextLength ?? budget.contextLength;
    const operatorCap = own?.maxOutputTokens ?? budget.maxOutputTokens;
    const reserve = own?.minOutputTokens ?? budget.minOutputTokens;
    return {
      id,
      contextLength: configured ?? this.#discovered(id),
      configured: configured !== undefined,
      reserve: effectiveReserve(reserve, operatorCap),
      margin: budget.fallbackMarginTokens,
      operatorCap,
    };
  }

  /** The ids of all models that the upstream lists or the operator configured. */
  ids(): string[] {
    return [...new Set([...this.#listed.map((model) => model.id), ...this.#settings.models.keys()])];
  }

  /** The name of a model in a log line: only names that the upstream or the operator gave. */
  label(model: string | undefined): string {
    if (model === undefined) return this.#listed[0]?.id ?? 'other';
    return this.#listed.some((known) => known.id === model) || this.#settings.models.has(model)
      ? model
      : 'other';
  }

  #discovered(id: string | undefined): number | undefined {
    const reported = this.#reported.get(id ?? '');
    return reported ?? this.#listed.find((model) => model.id === id)?.contextLength;
  }
}
