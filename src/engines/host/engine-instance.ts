import { ContextEngine, type SessionStart } from '../contract.js';
import { withinTime } from './deadline.js';
import type { HostSettings } from './host-settings.js';
import type { LentServices } from './lent-services.js';

/** Told of a hook that threw, or did not come back. */
export type OnHookFailed = (hook: string, error: unknown) => void;

/** What an engine has that says nothing of its own threshold. */
const UNSAID_THRESHOLD = 0.75;

/** The engine of one conversation. Model and context length reach it when they change, and before anything else. */
export class EngineInstance {
  #model: string | undefined;
  #contextLength: number | undefined;
  readonly #threshold: number;

  constructor(
    readonly engine: ContextEngine,
    readonly services: LentServices,
    private readonly settings: HostSettings,
    private readonly onHookFailed: OnHookFailed,
  ) {
    this.#threshold = engine.threshold === UNSAID_THRESHOLD ? settings.threshold : engine.threshold;
  }

  /** @param deadlineMs for `onSessionStart`: an engine that does not come back from it serves all the same. */
  async start(conversation: string, start: SessionStart, deadlineMs: number): Promise<void> {
    this.useModel(start.model, start.contextLength);
    try {
      await withinTime(deadlineMs, () => this.engine.onSessionStart(conversation, start));
    } catch (error) {
      this.onHookFailed('onSessionStart', error);
    }
  }

  /** @returns W. */
  useModel(model: string, contextLength: number): number {
    const { engine, settings } = this;
    if (model !== this.#model || contextLength !== this.#contextLength) {
      this.#model = model;
      this.#contextLength = contextLength;
      const own = settings.ownThresholds.get(model);
      engine.threshold = own ?? this.#threshold;
      engine.modelThresholds = own === undefined ? settings.modelThresholds : new Map();
      this.#updateModel(model, contextLength);
      const window = settings.windowTokens ?? Math.floor(engine.thresholdTokens);
      engine.thresholdTokens = Math.min(window, contextLength);
    }
    return engine.thresholdTokens;
  }

  /** The contract's own arithmetic stands in for an engine whose window is none. */
  #updateModel(model: string, contextLength: number): void {
    const { engine } = this;
    try {
      engine.updateModel(model, contextLength);
      if (engine.thresholdTokens >= 1) return;
      this.onHookFailed('updateModel', new RangeError('thresholdTokens has to be positive'));
    } catch (error) {
      this.onHookFailed('updateModel', error);
    }
    ContextEngine.prototype.updateModel.call(engine, model, contextLength);
  }
}
