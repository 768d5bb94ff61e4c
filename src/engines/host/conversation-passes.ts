import type { Checkpoint, ConversationStore } from '../../store/conversation-store.js';
import type { Background } from './background.js';
import {
  type Compressed,
  type CompressionOrder,
  type CompressionOutcome,
  compressView,
  type PassFailure,
} from './compress-view.js';
import type { EngineInstances } from './engine-instances.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HostObserver } from './host-observer.js';
import type { HostSettings } from './host-settings.js';
import type { LiveConversation } from './live-conversation.js';
import { mintUid } from './recogniser.js';
import type { Visit } from './visit.js';

/** After a pass that failed for another reason than the conversation's size. */
const FAILURE_PAUSE_MS = 30_000;
const LEAST_NEW_TOKENS = 1024;

export interface PassParts {
  readonly engine: string;
  readonly settings: HostSettings;
  readonly store: ConversationStore;
  readonly instances: EngineInstances;
  readonly background: Background;
  readonly observer: HostObserver;
  readonly onCheckpoint: (tenant: string) => void;
}

export type CompressionResult =
  | { readonly kind: 'compressed'; readonly checkpoint: Checkpoint; readonly promptTokens: number }
  | { readonly kind: 'failed'; readonly reason: PassFailure };

interface Order {
  readonly focus: string | undefined;
  /** Asked for by a person. */
  readonly force: boolean;
}

/** The passes of conversations: due ones, ordered ones, and those that are made early. */
export class ConversationPasses {
  constructor(private readonly parts: PassParts) {}

  /**
   * Shortens what a visit sends; the checkpoint is stored before this resolves. Equal requests share one pass. Rejects
   * only when the signal aborts.
   */
  async compress(visit: Visit, budget: ExchangeBudget, signal: AbortSignal): Promise<CompressionResult> {
    const { conversation } = visit;
    const key = `due ${visit.path.at(-1)?.hash} ${budget.model}`;
    const result = await conversation.passes.run(key, signal, (passSignal) => {
      const { ordered } = conversation;
      conversation.ordered = undefined;
      const order = { focus: ordered?.focus, force: ordered !== undefined };
      return this.#alone(visit, budget, passSignal, order);
    });
    if (result.kind === 'compressed') visit.adopt(result.checkpoint);
    return result;
  }

  /** Makes the next pass in the background, where the way to the trigger is far enough gone. */
  prepare(visit: Visit, budget: ExchangeBudget): void {
    const { conversation } = visit;
    if (!this.isPastSoftThreshold(budget) || this.parts.settings.prepare === 0) return;
    const { prepared } = conversation;
    if (prepared !== undefined && isOnPath(visit, prepared.checkpoint, budget)) return;
    if (this.#stuck(visit, budget) !== undefined) return;
    this.parts.background.add(conversation.id, async (signal) => {
      const key = `early ${visit.path.at(-1)?.hash} ${budget.model}`;
      await conversation.passes.run(key, signal, async (passSignal) => {
        const outcome = await this.#pass(visit, budget, passSignal, { focus: undefined, force: false });
        if (outcome.kind === 'failed') return outcome;
        const checkpoint = this.#checkpointOf(visit, outcome, budget);
        conversation.prepared = { checkpoint, writes: outcome.writes };
        this.parts.observer.compressed('prepared');
        return { kind: 'compressed', checkpoint, promptTokens: outcome.promptTokens };
      });
    });
  }

  isPastSoftThreshold({ promptTokens, window, required }: ExchangeBudget): boolean {
    return promptTokens >= (this.parts.settings.prepare || 1) * (window - required);
  }

  /** While no other pass of the conversation runs: what another exchange left behind may be enough already. */
  async #alone(
    visit: Visit,
    budget: ExchangeBudget,
    signal: AbortSignal,
    order: Order,
  ): Promise<CompressionResult> {
    let now = budget;
    for (const known of order.force ? [] : [this.#caughtUp, this.#promoted]) {
      const result = await known.call(this, visit, now, signal);
      if (result === undefined) continue;
      if (result.promptTokens + budget.required <= budget.window) return result;
      now = { ...budget, promptTokens: result.promptTokens };
    }
    const stuck = order.force ? undefined : this.#stuck(visit, now);
    if (stuck !== undefined) return this.#lastGood(visit, budget, now, stuck);
    const outcome = await this.#pass(visit, now, signal, order);
    if (outcome.kind === 'failed') return this.#lastGood(visit, budget, now, outcome.reason);
    const checkpoint = this.#checkpointOf(visit, outcome, now);
    await this.#commit(visit, checkpoint, outcome.writes);
    return { kind: 'compressed', checkpoint, promptTokens: outcome.promptTokens };
  }

  /** A pass failed; what was found before it is still better than what the visit came with. */
  #lastGood(
    visit: Visit,
    before: ExchangeBudget,
    now: ExchangeBudget,
    reason: PassFailure,
  ): CompressionResult {
    const { checkpoint } = visit;
    if (checkpoint === undefined || now === before) return { kind: 'failed', reason };
    return { kind: 'compressed', checkpoint, promptTokens: now.promptTokens };
  }

  /** The checkpoint that another exchange of the conversation made since this one was recognised. */
  async #caughtUp(visit: Visit, budget: ExchangeBudget, signal: AbortSignal) {
    const { checkpoint } = visit.conversation;
    if (checkpoint === undefined || checkpoint === visit.checkpoint) return undefined;
    if (!isOnPath(visit, checkpoint, budget)) return undefined;
    return await this.#adopted(visit, checkpoint, budget, signal);
  }

  /** The pass that was made early. */
  async #promoted(visit: Visit, budget: ExchangeBudget, signal: AbortSignal) {
    const { conversation } = visit;
    const { prepared } = conversation;
    if (prepared === undefined) return undefined;
    conversation.prepared = undefined;
    if (!isOnPath(visit, prepared.checkpoint, budget)) return undefined;
    const result = await this.#adopted(visit, prepared.checkpoint, budget, signal);
    if (result !== undefined) await this.#commit(visit, result.checkpoint, prepared.writes);
    return result;
  }

  /** `undefined` where it would not help. */
  async #adopted(visit: Visit, checkpoint: Checkpoint, budget: ExchangeBudget, signal: AbortSignal) {
    const former = visit.checkpoint;
    visit.adopt(checkpoint);
    const promptTokens = await visit.link.count(visit.request, signal, budget.isExact);
    if (promptTokens < budget.promptTokens) return { kind: 'compressed', checkpoint, promptTokens } as const;
    visit.adopt(former);
    return undefined;
  }

  async #pass(
    visit: Visit,
    budget: ExchangeBudget,
    signal: AbortSignal,
    { focus, force }: Order,
  ): Promise<CompressionOutcome> {
    const { conversation } = visit;
    const { settings, observer } = this.parts;
    const instance = await this.instanceOf(conversation, budget);
    instance.useModel(budget.model, budget.contextLength);
    const order: CompressionOrder = {
      link: visit.link,
      budget,
      rows: visit.rows,
      targetTokens: Math.floor(settings.lowWater * (budget.window - budget.reserve)),
      focusTopic: focus,
      force,
      signal,
      deadlineAt: performance.now() + settings.passDeadlineMs,
      mintUid,
      onHeadChanged: () => observer.headChanged(),
      onFailure: (reason, error) => observer.passFailed(reason, error),
    };
    const outcome = await compressView(order, instance);
    if (outcome.kind === 'compressed') return outcome;
    observer.compressed(outcome.reason);
    this.#remember(visit, budget, outcome.reason);
    if (outcome.reason === 'compression_timeout') {
      // It may go on for hours, and write: nobody listens to it any more.
      instance.services.revoke();
      conversation.instance = undefined;
    }
    return outcome;
  }

  /** The conversation's engine, made when it is first needed. */
  instanceOf(
    conversation: LiveConversation,
    { model, contextLength }: Pick<ExchangeBudget, 'model' | 'contextLength'>,
  ) {
    const start = { model, contextLength, reason: conversation.reason };
    conversation.instance ??= this.parts.instances.of(conversation.id, start).catch((error) => {
      conversation.instance = undefined;
      throw error;
    });
    return conversation.instance;
  }

  async #commit(
    visit: Visit,
    checkpoint: Checkpoint,
    engineState: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { conversation } = visit;
    const { store, observer, onCheckpoint } = this.parts;
    const { record, unsaved } = conversation;
    const next = { ...record, compressions: record.compressions + 1 };
    Object.assign(conversation, { checkpoint, checkpointModel: checkpoint.model, record: next });
    Object.assign(conversation, { stuck: undefined, unsaved: [] });
    observer.compressed('compressed');
    onCheckpoint(record.tenant);
    const instance = await conversation.instance?.catch(() => undefined);
    if (instance !== undefined) instance.engine.compressionCount = next.compressions;
    try {
      await store.commit({
        tenant: record.tenant,
        conversation: next,
        nodes: unsaved,
        checkpoint,
        engineState,
      });
    } catch (error) {
      // The conversation is compressed all the same; only a restart forgets it.
      observer.storeFailed(error);
    }
  }

  #checkpointOf(visit: Visit, outcome: Compressed, budget: ExchangeBudget): Checkpoint {
    const { checkpointRows, messages, promptTokens } = outcome;
    return {
      end: visit.path[messages - 1]?.hash ?? '',
      model: budget.model,
      engine: this.parts.engine,
      conversation: visit.conversation.id,
      messages,
      rows: checkpointRows.map((row) => ({
        bytes: row.bytes,
        uid: row.uid ?? mintUid(),
        absorbed: row.absorbed,
        toolCallUids: row.toolCallUids,
        toolCallUid: row.toolCallUid,
        mark: row.mark,
      })),
      tokensBefore: budget.promptTokens + visit.savedTokens,
      tokensAfter: promptTokens,
      created: Date.now(),
    };
  }

  #stuck(visit: Visit, { promptTokens, window }: ExchangeBudget): PassFailure | undefined {
    const { stuck } = visit.conversation;
    if (stuck === undefined || !visit.path.some(({ hash }) => hash === stuck.end)) return undefined;
    const isPaused = stuck.reason === 'irreducible' || performance.now() - stuck.at < FAILURE_PAUSE_MS;
    const hasGrown = promptTokens - stuck.promptTokens >= Math.max(LEAST_NEW_TOKENS, window / 20);
    return isPaused && !hasGrown ? stuck.reason : undefined;
  }

  #remember(visit: Visit, { promptTokens }: ExchangeBudget, reason: PassFailure): void {
    const end = visit.path.at(-1)?.hash;
    if (end !== undefined) visit.conversation.stuck = { end, promptTokens, reason, at: performance.now() };
  }
}

function isOnPath(visit: Visit, { end, model, messages }: Checkpoint, budget: ExchangeBudget): boolean {
  return model === budget.model && visit.path[messages - 1]?.hash === end;
}
