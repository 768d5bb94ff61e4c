import type { RawObject } from '../../body/raw-object.js';
import { canonicalCap } from '../../budget/canonical-cap.js';
import type { CapField } from '../../budget/cap-field.js';
import { checkSettings } from '../calls/no-settings.js';
import { StatusError } from '../calls/refusal.js';
import {
  type Backend,
  type BackendCall,
  type BackendContext,
  type BackendHealth,
  type Count,
  type CountCall,
  CountFailedError,
  type ModelDescription,
} from '../contract.js';
import { createEstimateBackend } from '../estimate/estimate-backend.js';
import { createLlamacppBackend } from '../llamacpp/llamacpp-backend.js';
import { createVllmBackend } from '../vllm/vllm-backend.js';
import type { Recognised } from './recognise.js';
import { Recogniser } from './recogniser.js';

/**
 * Recognises the upstream at the first contact, and counts as its kind does. Every look at the list of models looks
 * again: what comes back may be another server.
 * @throws BackendSettingsError
 */
export function createAutoBackend(context: BackendContext): Backend {
  checkSettings('auto', context);
  return new AutoBackend({ ...context, options: undefined });
}

class AutoBackend implements Backend {
  readonly #recogniser: Recogniser;
  readonly #backends: Readonly<Record<Recognised, Backend>>;
  #recognised: Recognised | undefined;

  constructor(context: BackendContext) {
    this.#recogniser = new Recogniser(context);
    this.#backends = {
      vllm: createVllmBackend(context),
      llamacpp: createLlamacppBackend(context),
      none: createEstimateBackend(context),
    };
  }

  get source(): string {
    return this.#current.source;
  }

  async count(request: RawObject, call: CountCall): Promise<Count> {
    if (this.#recognised === undefined) this.#take(await this.#recogniser.forCount(call));
    const asked = this.#current;
    try {
      return await asked.count(request, call);
    } catch (error) {
      if (!saysAnotherServer(error)) throw error;
      this.#take(await this.#recogniser.forCount(call));
      if (this.#current === asked) throw error;
      return this.#current.count(request, call);
    }
  }

  /** Each of them says itself what it does not count. */
  counts(): boolean {
    return true;
  }

  async describe(model: string | undefined, call: BackendCall): Promise<number | undefined> {
    try {
      if (this.#recognised === undefined) this.#take(await this.#recogniser.forCount(call));
    } catch (error) {
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
    return this.#current.describe(model, call);
  }

  async models(call: BackendCall): Promise<readonly ModelDescription[]> {
    this.#take(await this.#recogniser.ask(call));
    return (await this.#current.models?.(call)) ?? [];
  }

  clearCache(): void {
    for (const backend of Object.values(this.#backends)) backend.clearCache();
  }

  outputBudgetField(field: CapField, request: RawObject): CapField {
    return this.#current.outputBudgetField?.(field, request) ?? field;
  }

  outputBudgetLimit(request: RawObject, contextLength: number): number | undefined {
    return this.#current.outputBudgetLimit?.(request, contextLength);
  }

  coerceOutputBudget(text: string): number | undefined {
    const { coerceOutputBudget } = this.#current;
    return coerceOutputBudget === undefined
      ? canonicalCap(text)
      : coerceOutputBudget.call(this.#current, text);
  }

  isOverflow(status: number, body: string): boolean {
    return this.#current.isOverflow?.(status, body) === true;
  }

  health(): BackendHealth {
    return this.#current.health?.() ?? { state: 'closed', calls: 0, failures: 0 };
  }

  async close(): Promise<void> {
    const backends = Object.values(this.#backends);
    await Promise.all([this.#recogniser.close(), ...backends.map((backend) => backend.close?.())]);
  }

  /** Until the upstream is recognised, nothing that holds for one kind of server only is done. */
  get #current(): Backend {
    return this.#backends[this.#recognised ?? 'none'];
  }

  #take(recognised: Recognised): void {
    if (recognised === this.#recognised) return;
    this.#recognised = recognised;
    this.clearCache();
  }
}

/** What a server answers that has no such endpoint. */
function saysAnotherServer(error: unknown): boolean {
  if (error instanceof StatusError) return [404, 405, 501].includes(error.status);
  return error instanceof CountFailedError && error.code === 'bad_answer';
}
