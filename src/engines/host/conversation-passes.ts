import type { Checkpoint, NodeRecord } from '../../store/conversation-store.js';
import type { Background } from './background.js';
import type { PassFailure } from './compress-view.js';
import type { ConversationWriter } from './conversation-writer.js';
import { EarlyPasses } from './early-passes.js';
import type { EngineInstance } from './engine-instance.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HostLimits } from './host-settings.js';
import type { LiveConversation, MadePass } from './live-conversation.js';
import { PassRunner, type PassTerms, type RunnerParts } from './pass-runner.js';
import { rememberStuck, stuckReason } from './stuck-view.js';
import type { Visit } from './visit.js';

export interface PassParts extends RunnerParts {
  readonly limits: Pick<HostLimits, 'failurePauseMs'>;
  readonly writer: ConversationWriter;
  readonly background: Background;
  readonly onCheckpoint: (tenant: string) => void;
}

export type CompressionResult =
  | { readonly kind: 'compressed'; readonly checkpoint: Checkpoint; readonly promptTokens: number }
  | { readonly kind: 'failed'; readonly reason: PassFailure };

/** The passes of conversations: due ones, ordered ones, and those that are made early. */
export class ConversationPasses {
  readonly #runner: PassRunner;
  readonly #early: EarlyPasses;

  constructor(private readonly parts: PassParts) {
    const { settings, limits, background, observer } = parts;
    this.#runner = new PassRunner(parts);
    this.#early = new EarlyPasses({ settings, limits, runner: this.#runner, background, observer });
  }

  /**
   * Shortens what a visit sends; the checkpoint is stored before this resolves. Equal requests share one pass. Rejects
   * only when the signal aborts.
   */
  async compress(visit: Visit, budget: ExchangeBudget, signal: AbortSignal): Promise<CompressionResult> {
    const { conversation } = visit;
    const { observer, settings } = this.parts;
    // The wait for another one's pass counts.
    const deadlineAt = performance.now() + settings.passDeadlineMs;
    stopElsewhere(visit, budget);
    const { model, promptTokens, required } = budget;
    const key = `due ${visit.path.at(-1)?.hash} ${promptTokens} ${required} ${model}`;
    const start = (passSignal: AbortSignal) => this.#due(visit, budget, passSignal, deadlineAt);
    const result = await conversation.passes.run(key, signal, start, settings.passDeadlineMs);
    if (result === undefined) {
      observer.compressed('compression_timeout');
      observer.passFailed('compression_timeout', new Error('deadline'));
      return { kind: 'failed', reason: 'compression_timeout' };
    }
    if (result.kind === 'compressed') visit.adopt(result.checkpoint);
    return result;
  }

  /** Makes the next pass in the background, where the way to the trigger is far enough gone. */
  prepare(visit: Visit, budget: ExchangeBudget): void {
    this.#early.prepare(visit, budget);
  }

  isPastSoftThreshold(budget: ExchangeBudget): boolean {
    return this.#early.isPastSoftThreshold(budget);
  }

  /** The conversation's engine, made when it is first needed. */
  instanceOf(
    conversation: LiveConversation,
    facts: Pick<ExchangeBudget, 'model' | 'contextLength'>,
  ): Promise<EngineInstance> {
    return this.#runner.instanceOf(conversation, facts);
  }

  async #due(
    visit: Visit,
    budget: ExchangeBudget,
    signal: AbortSignal,
    deadlineAt: number,
  ): Promise<CompressionResult> {
    const { conversation } = visit;
    const { ordered } = conversation;
    conversation.ordered = undefined;
    const force = ordered !== undefined;
    try {
      return await this.#alone(visit, budget, { signal, deadlineAt, focus: ordered?.focus, force });
    } catch (error) {
      // The client went: the order stands.
      conversation.ordered ??= ordered;
      throw error;
    }
  }

  /** While no other pass of the conversation runs: what another exchange left behind may be enough already. */
  async #alone(visit: Visit, budget: ExchangeBudget, terms: PassTerms): Promise<CompressionResult> {
    let now = budget;
    for (const known of terms.force ? [] : [this.#caughtUp, this.#promoted]) {
      const result = await known.call(this, visit, now, terms);
      if (result === undefined) continue;
      if (result.promptTokens + budget.required <= budget.window) return result;
      now = { ...budget, promptTokens: result.promptTokens };
    }
    const stuck = terms.force ? undefined : stuckReason(visit, now, this.parts.limits.failurePauseMs);
    if (stuck !== undefined) return lastGood(visit, budget, now, stuck);
    const outcome = await this.#runner.run(visit, now, terms);
    if (outcome.kind === 'failed') return lastGood(visit, budget, now, outcome.reason);
    const made = this.#runner.made(visit, outcome, now);
    await this.#commit(visit, made);
    const { promptTokens } = outcome;
    const isStillDue = promptTokens + budget.required > budget.window;
    if (isStillDue) rememberStuck(visit, { ...budget, promptTokens }, 'irreducible');
    return { kind: 'compressed', checkpoint: made.checkpoint, promptTokens };
  }

  /** A checkpoint that another exchange of the conversation made since this one was recognised. */
  async #caughtUp(visit: Visit, budget: ExchangeBudget, { signal }: PassTerms) {
    const { checkpoint, lastMade } = visit.conversation;
    for (const known of [lastMade, checkpoint]) {
      if (known === undefined || known === visit.checkpoint) continue;
      if (!visit.mayAdopt(known, budget.model)) continue;
      const result = await adopted(visit, known, budget, signal);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  /** The pass that was made early. */
  async #promoted(visit: Visit, budget: ExchangeBudget, terms: PassTerms) {
    const { conversation } = visit;
    const { prepared } = conversation;
    if (prepared === undefined || !visit.mayAdopt(prepared.checkpoint, budget.model)) return undefined;
    const result = await adopted(visit, prepared.checkpoint, budget, terms.signal);
    if (result === undefined) {
      if (conversation.prepared === prepared) conversation.prepared = undefined;
      return undefined;
    }
    const { promptTokens } = result;
    const fresh = await this.#withWhatCameSince(visit, { ...budget, promptTokens }, prepared, terms);
    await this.#commit(visit, fresh ?? prepared);
    if (fresh === undefined) return result;
    const { checkpoint } = fresh;
    visit.adopt(checkpoint);
    return { kind: 'compressed', checkpoint, promptTokens: checkpoint.tokensAfter } as const;
  }

  /** What came after an early pass would be behind its result, and leave the prefix cache once more with the next one. */
  async #withWhatCameSince(visit: Visit, budget: ExchangeBudget, prepared: MadePass, terms: PassTerms) {
    const isEnough = budget.promptTokens + budget.required <= budget.window;
    if (!isEnough || !(await this.#runner.catchesUp(visit, budget))) return undefined;
    const outcome = await this.#runner.run(visit, budget, { ...terms, catchesUp: true });
    if (outcome.kind === 'failed') return undefined;
    const made = this.#runner.made(visit, outcome, budget);
    return { ...made, writes: new Map([...prepared.writes, ...made.writes]) };
  }

  async #commit(visit: Visit, made: MadePass): Promise<void> {
    const { conversation } = visit;
    const { observer, writer, onCheckpoint } = this.parts;
    const { record } = conversation;
    conversation.record = { ...record, compressions: record.compressions + 1 };
    conversation.stuck = undefined;
    conversation.prepared = undefined;
    observer.compressed('compressed');
    const instance = await conversation.instance?.catch(() => undefined);
    if (instance !== undefined) instance.engine.compressionCount = conversation.record.compressions;
    // The conversation is compressed even where the store fails: only a restart forgets it then.
    await writer.write(visit, made);
    const { checkpoint } = made;
    conversation.lastMade = checkpoint;
    // Another branch may have been seen last, or an earlier message asked again.
    if (isContinued(visit.path, conversation.path)) {
      conversation.checkpoint = checkpoint;
      conversation.checkpointModel = checkpoint.model;
    }
    onCheckpoint(record.tenant);
  }
}

/** True where the second path goes on from the end of the first, or is the same. */
function isContinued(path: readonly NodeRecord[], now: readonly NodeRecord[]): boolean {
  return path.length > 0 && now[path.length - 1]?.hash === path.at(-1)?.hash;
}

/** A pass in the background for a history that this request left behind would only keep it waiting. */
function stopElsewhere({ conversation, path }: Visit, { model }: ExchangeBudget): void {
  const { early } = conversation;
  if (early === undefined) return;
  if (early.model !== model || !path.some(({ hash }) => hash === early.end)) early.stop();
}

/** A pass failed; what was found before it is still better than what the visit came with. */
function lastGood(
  { checkpoint }: Visit,
  before: ExchangeBudget,
  now: ExchangeBudget,
  reason: PassFailure,
): CompressionResult {
  if (checkpoint === undefined || now === before) return { kind: 'failed', reason };
  return { kind: 'compressed', checkpoint, promptTokens: now.promptTokens };
}

/** `undefined` where it would not help. */
async function adopted(visit: Visit, checkpoint: Checkpoint, budget: ExchangeBudget, signal: AbortSignal) {
  const former = visit.checkpoint;
  visit.adopt(checkpoint);
  try {
    const promptTokens = await visit.link.count(visit.request, signal, budget.isExact);
    if (promptTokens < budget.promptTokens) return { kind: 'compressed', checkpoint, promptTokens } as const;
  } catch {
    signal.throwIfAborted();
  }
  visit.adopt(former);
  return undefined;
}
