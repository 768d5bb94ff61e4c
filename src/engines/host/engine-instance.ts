import type { ContextEngine, SessionStart } from '../contract.js';
import type { HostSettings } from './host-settings.js';
import type { LentServices } from './lent-services.js';

/** The engine of one conversation. Model and context length reach it when they change, and before anything else. */
export class EngineInstance {
  #model: string | undefined;
  #contextLength: number | undefined;

  constructor(
    readonly engine: ContextEngine,
    readonly services: LentServices,
    private readonly settings: HostSettings,
  ) {}

  async start(conversation: string, start: SessionStart): Promise<void> {
    this.useModel(start.model, start.contextLength);
    await this.engine.onSessionStart(conversation, start);
  }

  /** @returns W. */
  useModel(model: string, contextLength: number): number {
    const { engine, settings } = this;
    if (model !== this.#model || contextLength !== this.#contextLength) {
      this.#model = model;
      this.#contextLength = contextLength;
      const own = settings.ownThresholds.get(model);
      engine.threshold = own ?? settings.threshold;
      engine.modelThresholds = own === undefined ? settings.modelThresholds : new Map();
      engine.updateModel(model, contextLength);
      const window = settings.windowTokens ?? engine.thresholdTokens;
      engine.thresholdTokens = Math.min(window, contextLength);
    }
    return engine.thresholdTokens;
  }
}
