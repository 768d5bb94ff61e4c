import type { Background } from './background.js';
import type { CompressionResult } from './conversation-passes.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HostObserver } from './host-observer.js';
import type { HostLimits, HostSettings } from './host-settings.js';
import { fits } from './live-conversation.js';
import type { PassRunner } from './pass-runner.js';
import { unlessAborted } from './shared-pass.js';
import { stuckReason } from './stuck-view.js';
import type { Visit } from './visit.js';

/** For a pass in the background where those of exchanges have no deadline: it must not keep all others waiting. */
const MOST_BACKGROUND_MS = 600_000;

export interface EarlyParts {
  readonly settings: HostSettings;
  readonly limits: Pick<HostLimits, 'failurePauseMs'>;
  readonly runner: PassRunner;
  readonly background: Background;
  readonly observer: Pick<HostObserver, 'compressed'>;
}

/** Passes that are made before they are due, while nobody waits. */
export class EarlyPasses {
  constructor(private readonly parts: EarlyParts) {}

  /** Makes the next pass in the background, where the way to the trigger is far enough gone. */
  prepare(visit: Visit, budget: ExchangeBudget): void {
    const { conversation } = visit;
    const end = visit.path.at(-1)?.hash;
    if (end === undefined || !this.#isWorthIt(visit, budget)) return;
    const stop = new AbortController();
    const early = { end, model: budget.model, stop: () => stop.abort() };
    this.parts.background.add(conversation.id, async (ended) => {
      if (conversation.isDeleted || !this.#isWorthIt(visit, budget)) return;
      conversation.early = early;
      try {
        const signal = AbortSignal.any([ended, stop.signal]);
        const key = `early ${end} ${budget.model}`;
        await conversation.passes.run(key, signal, (passSignal) => this.#make(visit, budget, passSignal));
      } finally {
        if (conversation.early === early) conversation.early = undefined;
      }
    });
  }

  /** @param from P where the way to the trigger begins. */
  isPastSoftThreshold({ promptTokens, window, required }: ExchangeBudget, from = 0): boolean {
    return promptTokens >= from + (this.parts.settings.prepare || 1) * (window - required - from);
  }

  #isWorthIt(visit: Visit, budget: ExchangeBudget): boolean {
    const { settings, limits } = this.parts;
    // From the last compression on: each pass that is made too early loses a prefix too early.
    const from = visit.checkpoint?.tokensAfter ?? 0;
    if (settings.prepare === 0 || !this.isPastSoftThreshold(budget, from)) return false;
    if (!budget.isExact && !settings.compressOnEstimate) return false;
    const { prepared, checkpoint } = visit.conversation;
    const isReady = prepared !== undefined && fits(prepared.checkpoint, visit.path, budget.model);
    const hasMore = (visit.checkpoint?.messages ?? 0) < (checkpoint?.messages ?? 0);
    const isBehind = hasMore && checkpoint !== undefined && fits(checkpoint, visit.path, budget.model);
    return !isReady && !isBehind && stuckReason(visit, budget, limits.failurePauseMs) === undefined;
  }

  async #make(visit: Visit, budget: ExchangeBudget, signal: AbortSignal): Promise<CompressionResult> {
    const { runner, settings, observer } = this.parts;
    const isWorthIt = await unlessAborted(runner.isWorthPreparing(visit, budget), signal);
    if (!isWorthIt) return { kind: 'failed', reason: 'irreducible' };
    const deadlineAt = performance.now() + Math.min(settings.passDeadlineMs, MOST_BACKGROUND_MS);
    const terms = { signal, deadlineAt, focus: undefined, force: false, early: true };
    const outcome = await runner.run(visit, budget, terms);
    if (outcome.kind === 'failed') return outcome;
    const made = runner.made(visit, outcome, budget);
    visit.conversation.prepared = made;
    observer.compressed('prepared');
    return { kind: 'compressed', checkpoint: made.checkpoint, promptTokens: outcome.promptTokens };
  }
}
