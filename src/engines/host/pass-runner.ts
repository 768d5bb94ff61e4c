import type { Checkpoint } from '../../store/conversation-store.js';
import { overrides } from '../contract.js';
import { type Compressed, type CompressionOutcome, compressView, type PassFailure } from './compress-view.js';
import { HookTimeoutError } from './deadline.js';
import type { EngineInstance } from './engine-instance.js';
import type { EngineInstances } from './engine-instances.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HookGuard } from './hook-guard.js';
import type { HostObserver } from './host-observer.js';
import type { HostSettings } from './host-settings.js';
import type { LiveConversation, MadePass } from './live-conversation.js';
import { mintUid } from './recogniser.js';
import { rememberStuck } from './stuck-view.js';
import type { Visit } from './visit.js';

export interface RunnerParts {
  /** The engine's name. */
  readonly engine: string;
  readonly settings: HostSettings;
  readonly guard: HookGuard;
  readonly instances: EngineInstances;
  readonly observer: HostObserver;
}

export interface PassTerms {
  readonly signal: AbortSignal;
  /** In the time of `performance.now()`. */
  readonly deadlineAt: number;
  readonly focus: string | undefined;
  /** Asked for by a person. */
  readonly force: boolean;
  /** Made before it is due: what comes until then stays behind the result as it is. */
  readonly early?: boolean;
  /** What was made early is due: only what came since is added, and where that fails nothing is lost. */
  readonly catchesUp?: boolean;
}

/** Of the low-water mark: an early pass aims no deeper. */
const LEAST_EARLY_SHARE = 0.5;

/** Has the engine of a conversation shorten what a visit sends. */
export class PassRunner {
  constructor(private readonly parts: RunnerParts) {}

  /** Rejects only when the signal aborts. What fails is remembered. */
  async run(visit: Visit, budget: ExchangeBudget, terms: PassTerms): Promise<CompressionOutcome> {
    const { conversation } = visit;
    const { settings, observer, guard } = this.parts;
    const catchesUp = terms.catchesUp === true;
    // A result that fits is at hand: a hook like any other, that a request waits for.
    const most = catchesUp ? performance.now() + guard.hookMs : Number.POSITIVE_INFINITY;
    const deadlineAt = Math.min(terms.deadlineAt, most);
    const order = {
      link: visit.link,
      budget,
      rows: visit.rows,
      targetTokens: targetOf(budget, settings.lowWater, terms.early === true),
      focusTopic: terms.focus,
      force: terms.force,
      catchesUp,
      signal: terms.signal,
      deadlineAt,
      mintUid,
      onHeadChanged: () => observer.headChanged(),
      onFailure: (reason: PassFailure, error: unknown) => {
        if (!catchesUp) observer.passFailed(reason, error);
        else if (reason === 'compression_timeout') observer.hookFailed('catchUp', new HookTimeoutError());
        else if (reason !== 'irreducible') observer.hookFailed('catchUp', error);
      },
      onRunaway: (instance: EngineInstance | undefined) => {
        replace(conversation, instance);
        if (catchesUp && !terms.signal.aborted) guard.pause(conversation);
      },
    };
    const outcome = await compressView(order, () => this.#ready(conversation, budget));
    if (outcome.kind === 'failed' && !catchesUp) {
      observer.compressed(outcome.reason);
      rememberStuck(visit, budget, outcome.reason);
    }
    return outcome;
  }

  /** What the engine says; as without the hook where that fails. Never rejects. */
  async isWorthPreparing(visit: Visit, budget: ExchangeBudget): Promise<boolean> {
    const { guard, settings } = this.parts;
    const options = {
      currentTokens: budget.promptTokens,
      targetTokens: targetOf(budget, settings.lowWater, false),
    };
    return await guard.asked('isWorthPreparing', visit.conversation, true, async () => {
      const { engine } = await this.#ready(visit.conversation, budget);
      return (await engine.isWorthPreparing(visit.messages(), options)) !== false;
    });
  }

  async catchesUp({ conversation }: Visit, budget: ExchangeBudget): Promise<boolean> {
    if (this.parts.guard.isPaused(conversation)) return false;
    return overrides((await this.#ready(conversation, budget)).engine, 'catchUp');
  }

  /** The conversation's engine, made when it is first needed. */
  instanceOf(
    conversation: LiveConversation,
    { model, contextLength }: Pick<ExchangeBudget, 'model' | 'contextLength'>,
  ): Promise<EngineInstance> {
    if (conversation.instance !== undefined) return conversation.instance;
    const { id, reason, record } = conversation;
    const made = this.parts.instances.of(id, { model, contextLength, reason }).then((instance) => {
      instance.engine.compressionCount = record.compressions;
      return instance;
    });
    conversation.instance = made;
    conversation.reason = 'restored';
    made.catch(() => {
      if (conversation.instance === made) conversation.instance = undefined;
    });
    return made;
  }

  async #ready(conversation: LiveConversation, budget: ExchangeBudget): Promise<EngineInstance> {
    const instance = await this.instanceOf(conversation, budget);
    instance.useModel(budget.model, budget.contextLength);
    return instance;
  }

  /** What stands from now on for the first messages of a visit's request. */
  made(visit: Visit, outcome: Compressed, { model }: ExchangeBudget): MadePass {
    const { checkpointRows, messages, tokensBefore, promptTokens, writes } = outcome;
    const checkpoint: Checkpoint = {
      end: visit.path[messages - 1]?.hash ?? '',
      model,
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
      tokensBefore: tokensBefore + visit.savedTokens,
      tokensAfter: promptTokens,
      created: Date.now(),
    };
    return { checkpoint, writes };
  }
}

/**
 * The low-water mark, or below it what leaves room for a large answer that the request insists on. An early pass aims so
 * much lower that the view is there when it is due, not above it.
 */
function targetOf(
  { window, reserve, required, promptTokens }: ExchangeBudget,
  lowWater: number,
  isEarly: boolean,
): number {
  const mark = Math.floor(lowWater * (window - reserve));
  const target = window > required ? Math.min(mark, window - required) : mark;
  if (!isEarly) return target;
  const stillToCome = Math.max(0, window - required - promptTokens);
  return Math.max(target - stillToCome, Math.floor(target * LEAST_EARLY_SHARE));
}

/** It may go on for hours, and write: the next pass gets a fresh clone. */
function replace(conversation: LiveConversation, instance: EngineInstance | undefined): void {
  const { instance: made } = conversation;
  instance?.services.revoke();
  conversation.instance = undefined;
  // One that is still being made serves nobody when it is there.
  made?.then(
    ({ services }) => services.revoke(),
    () => undefined,
  );
}
