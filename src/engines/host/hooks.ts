import type { RawObject } from '../../body/raw-object.js';
import type { Message, Usage } from '../../conversation/message.js';
import { type ContextEngine, overrides } from '../contract.js';
import { withinTime } from './deadline.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HookGuard } from './hook-guard.js';
import type { HostLimits } from './host-settings.js';
import type { LiveConversation } from './live-conversation.js';
import { selectedRequest } from './selection.js';
import type { Visit } from './visit.js';

export type ModelFacts = Pick<ExchangeBudget, 'model' | 'contextLength'>;

/** Where hooks get the conversation's engine from. */
export type EngineOf = (conversation: LiveConversation, facts: ModelFacts) => Promise<ContextEngine>;

/** What was seen of an upstream's answer. */
export interface ObservedAnswer {
  readonly usage: Usage;
  /** The assistant's final message; `undefined` where the turn is not over, or nobody asked for it. */
  readonly message: Message | undefined;
}

/** Calls the engine's hooks around an exchange. None of them can fail the request, and one that is not there is free. */
export class EngineHooks {
  readonly #selects: boolean;
  readonly #asksFirst: boolean;
  readonly #asksForDue: boolean;
  readonly #observesUsage: boolean;
  readonly #observesTurns: boolean;
  readonly #endsSessions: boolean;
  /** What conversations' engines are being told of their answers. */
  readonly #telling = new WeakMap<LiveConversation, Promise<void>>();

  constructor(
    prototype: ContextEngine,
    private readonly engineOf: EngineOf,
    private readonly guard: HookGuard,
    private readonly limits: Pick<HostLimits, 'hookMs' | 'observerMs'>,
  ) {
    this.#selects = overrides(prototype, 'selectContext');
    this.#asksFirst = overrides(prototype, 'shouldCompressPreflight');
    this.#asksForDue = overrides(prototype, 'shouldCompress');
    this.#observesUsage = overrides(prototype, 'updateFromResponse');
    this.#observesTurns = overrides(prototype, 'onTurnComplete');
    this.#endsSessions = overrides(prototype, 'onSessionEnd');
  }

  /** True where every conversation matters to the engine, from its first request on. */
  get areEager(): boolean {
    const asks = this.#selects || this.#asksFirst || this.#asksForDue;
    return asks || this.#observesUsage || this.#observesTurns || this.#endsSessions;
  }

  get observeTurns(): boolean {
    return this.#observesTurns;
  }

  get endSessions(): boolean {
    return this.#endsSessions;
  }

  /** The request with the messages that the engine selects for it, else the visit's own. */
  async select(visit: Visit, facts: ModelFacts): Promise<RawObject> {
    const { request, conversation } = visit;
    if (!this.#selects) return request;
    // An engine selects by what it learned of the turn before.
    await this.told(conversation, this.limits.hookMs);
    return await this.#asked('selectContext', visit, facts, request, async (engine) => {
      const shown = visit.messages();
      const conversationMessages = visit.messages();
      const selected: unknown = await engine.selectContext(visit.messages(), {
        conversationMessages,
        incomingMessage: conversationMessages.findLast(({ role }) => role === 'user'),
        budgetTokens: engine.thresholdTokens,
      });
      return selectedRequest(visit, shown, selected);
    });
  }

  /** True where the engine wants a pass before anything is counted. */
  async wantsPass(visit: Visit, facts: ModelFacts): Promise<boolean> {
    if (!this.#asksFirst) return false;
    return await this.#asked(
      'shouldCompressPreflight',
      visit,
      facts,
      false,
      async (engine) => (await engine.shouldCompressPreflight(visit.messages())) === true,
    );
  }

  /** What the engine says of that pressure where it has a rule of its own; else what the arithmetic says. */
  async isDue(visit: Visit, isDue: boolean, pressure: number, facts: ModelFacts): Promise<boolean> {
    if (!this.#asksForDue) return isDue;
    return await this.#asked(
      'shouldCompress',
      visit,
      facts,
      isDue,
      async (engine) => (await engine.shouldCompress(pressure)) === true,
    );
  }

  /** Tells the engine of an answer, one after the other. Never rejects. */
  answered(visit: Visit, facts: ModelFacts, answer: ObservedAnswer): Promise<void> {
    const { conversation } = visit;
    // An engine that nothing has asked for yet has no use for a usage.
    if (!this.areEager && conversation.instance === undefined) return Promise.resolve();
    const before = this.#telling.get(conversation) ?? Promise.resolve();
    const telling = before.then(() => this.#tell(visit, facts, answer));
    this.#telling.set(conversation, telling);
    return telling;
  }

  /** Resolves once the engine knows of all answers so far, at the latest after that time. */
  async told(conversation: LiveConversation, ms: number): Promise<void> {
    const telling = this.#telling.get(conversation);
    if (telling !== undefined) await withinTime(ms, () => telling).catch(() => undefined);
  }

  /** A person begins anew. Never rejects. */
  async reset(visit: Visit, facts: ModelFacts): Promise<void> {
    await this.guard.called('onSessionReset', undefined, this.limits.hookMs, async () => {
      const engine = await this.engineOf(visit.conversation, facts);
      await engine.onSessionReset();
    });
  }

  async #tell(visit: Visit, facts: ModelFacts, { usage, message }: ObservedAnswer): Promise<void> {
    const { conversation } = visit;
    const { observerMs } = this.limits;
    await this.guard.called('updateFromResponse', undefined, observerMs, async () => {
      const engine = await this.engineOf(conversation, facts);
      await engine.updateFromResponse(usage);
    });
    if (!this.#observesTurns || message === undefined) return;
    await this.guard.called('onTurnComplete', undefined, observerMs, async () => {
      const engine = await this.engineOf(conversation, facts);
      await engine.onTurnComplete([...visit.messages(), message], usage);
    });
  }

  /** A hook that a request waits for. */
  async #asked<T>(
    hook: string,
    { conversation }: Visit,
    facts: ModelFacts,
    otherwise: T,
    ask: (engine: ContextEngine) => Promise<T>,
  ): Promise<T> {
    return await this.guard.asked(hook, conversation, otherwise, async () =>
      ask(await this.engineOf(conversation, facts)),
    );
  }
}
