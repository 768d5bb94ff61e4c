import type { RawObject } from '../../body/raw-object.js';
import { ChainReader } from '../../conversation/chain.js';
import type { ConversationStore } from '../../store/conversation-store.js';
import type { RegisteredEngine } from '../registration.js';
import { Background } from './background.js';
import { ConversationList } from './conversation-list.js';
import { type CompressionResult, ConversationPasses } from './conversation-passes.js';
import { ConversationWriter } from './conversation-writer.js';
import { withinTime } from './deadline.js';
import { type BuiltInEngine, EngineInstances } from './engine-instances.js';
import { EngineWindows } from './engine-windows.js';
import type { ExchangeBudget, ExchangeLink } from './exchange-link.js';
import { HookGuard } from './hook-guard.js';
import { EngineHooks, type ModelFacts, type ObservedAnswer } from './hooks.js';
import type { HostObserver } from './host-observer.js';
import { HOST_LIMITS, type HostLimits, type HostSettings } from './host-settings.js';
import type { LiveConversation } from './live-conversation.js';
import { LiveConversations } from './live-conversations.js';
import { Recogniser } from './recogniser.js';
import { endSession } from './session-end.js';
import type { Visit } from './visit.js';

const PURGE_EVERY_MS = 30_000;
const CLOSE_GRACE_MS = 500;

export interface EngineHostParts {
  readonly registered: RegisteredEngine;
  readonly builtIn: BuiltInEngine;
  readonly settings: HostSettings;
  readonly store: ConversationStore;
  readonly observer: HostObserver;
  /** Default: `HOST_LIMITS`. */
  readonly limits?: Partial<HostLimits> | undefined;
}

/** Drives an engine on behalf of each conversation (design, sections 7 and 8). */
export class EngineHost {
  readonly name: string;
  /** For administrators. */
  readonly list: ConversationList;
  readonly #parts: EngineHostParts;
  readonly #live: LiveConversations;
  readonly #recogniser: Recogniser;
  readonly #passes: ConversationPasses;
  readonly #writer: ConversationWriter;
  readonly #hooks: EngineHooks;
  readonly #background = new Background();
  readonly #windows: EngineWindows;
  readonly #timers: NodeJS.Timeout[];
  readonly #limits: HostLimits;
  /** Work that goes on after an answer; a shutdown waits for it. */
  readonly #pending = new Set<Promise<void>>();

  constructor(parts: EngineHostParts) {
    const { registered, settings, store, observer } = parts;
    this.name = registered.name;
    this.#parts = parts;
    this.#limits = { ...HOST_LIMITS, ...parts.limits };
    const { mostLive } = this.#limits;
    const guard = new HookGuard(observer, this.#limits);
    this.#live = new LiveConversations(mostLive, settings.idleSeconds, (gone) => this.#putAway(gone));
    this.#writer = new ConversationWriter(store, observer);
    this.list = new ConversationList(store, this.#live, this.#writer);
    this.#passes = new ConversationPasses({
      engine: registered.name,
      settings,
      limits: this.#limits,
      guard,
      writer: this.#writer,
      instances: instancesOf(parts, this.#limits),
      background: this.#background,
      observer,
      onCheckpoint: (tenant) => this.#recogniser.noteCheckpoint(tenant),
    });
    const engineOf = async (conversation: LiveConversation, facts: ModelFacts) => {
      const instance = await this.#passes.instanceOf(conversation, facts);
      instance.useModel(facts.model, facts.contextLength);
      return instance.engine;
    };
    this.#hooks = new EngineHooks(registered.prototype, engineOf, guard, this.#limits);
    this.#recogniser = new Recogniser({
      engine: registered.name,
      store,
      chains: new ChainReader(),
      live: this.#live,
      writer: this.#writer,
      observer,
      isEager: this.#hooks.areEager,
    });
    this.#windows = new EngineWindows(registered.prototype, settings, hookFailed(observer));
    this.#timers = this.#startTimers(settings.idleSeconds * 1000);
    this.#forgetOld();
  }

  /** W for a model of that context length, in tokens. */
  window(model: string | undefined, contextLength: number): number {
    return this.#windows.window(model, contextLength);
  }

  get compressesOnEstimate(): boolean {
    return this.#parts.settings.compressOnEstimate;
  }

  /** @param isNeeded false: only where something is known of the conversation already. */
  recognise(link: ExchangeLink, model: string, isNeeded: boolean): Promise<Visit | undefined> {
    return this.#recogniser.find(link, model, isNeeded);
  }

  select(visit: Visit, facts: ModelFacts): Promise<RawObject> {
    return this.#hooks.select(visit, facts);
  }

  /** True where the engine or a person wants a pass, whatever the count says. */
  async wantsPass(visit: Visit, facts: ModelFacts): Promise<boolean> {
    return visit.conversation.ordered !== undefined || (await this.#hooks.wantsPass(visit, facts));
  }

  /** What the engine says where it has a rule of its own; else what the arithmetic says. */
  async isDue(
    visit: Visit | undefined,
    isDue: boolean,
    pressure: number,
    facts: ModelFacts,
  ): Promise<boolean> {
    return visit === undefined ? isDue : await this.#hooks.isDue(visit, isDue, pressure, facts);
  }

  /** The conversation's engine begins anew. Never rejects. */
  reset(visit: Visit, facts: ModelFacts): Promise<void> {
    return this.#hooks.reset(visit, facts);
  }

  isPastSoftThreshold(budget: ExchangeBudget): boolean {
    return this.#passes.isPastSoftThreshold(budget);
  }

  compress(visit: Visit, budget: ExchangeBudget, signal: AbortSignal): Promise<CompressionResult> {
    return this.#passes.compress(visit, budget, signal);
  }

  /** Writes down what is known of a conversation, behind its request. */
  note(visit: Visit, budget: ExchangeBudget): void {
    const { conversation } = visit;
    conversation.record = {
      ...conversation.record,
      lastSeen: Date.now(),
      messages: visit.chain.headRows.length + visit.chain.messages.length,
      promptTokens: budget.promptTokens,
      window: budget.window,
    };
    if (this.#hooks.endSessions) conversation.lastRows = visit.rows;
    this.#writer.later(visit);
  }

  /** True where the engine wants to see the assistant's final messages. */
  get observesTurns(): boolean {
    return this.#hooks.observeTurns;
  }

  /** After an answer was delivered. */
  answered(visit: Visit, budget: ExchangeBudget, answer: ObservedAnswer | undefined): void {
    if (answer === undefined) return;
    this.#follow(this.#hooks.answered(visit, budget, answer));
    this.#passes.prepare(visit, budget);
  }

  /** The next request of the conversation is compressed with that focus. False where it is not known. */
  async order(id: string, focus: string | undefined): Promise<boolean> {
    const live = this.#live.get(id);
    void this.#writer.flush();
    const record = live?.record ?? (await this.#parts.store.conversation(id))?.conversation;
    if (record === undefined) return false;
    // Else a tenant without checkpoints is not looked up before its requests grow near the window.
    this.#recogniser.noteCheckpoint(record.tenant);
    if (live === undefined) this.#recogniser.order(id, focus);
    else live.ordered = { focus };
    return true;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#background.end();
    this.#follow(this.#writer.flush());
    this.#live.clear();
    // Each has a deadline of its own, but some are longer than a shutdown may take.
    const all = Promise.all(this.#pending);
    await withinTime(this.#limits.sessionEndMs + CLOSE_GRACE_MS, () => all).catch(() => undefined);
    await this.#parts.store.close();
  }

  /** Keeps a promise that nobody waits for, so that a shutdown can. It must not reject. */
  #follow(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  #putAway(conversation: LiveConversation): void {
    if (conversation.instance === undefined) return;
    const { sessionEndMs } = this.#limits;
    const work = async () => {
      await this.#hooks.told(conversation, sessionEndMs / 2);
      await endSession(conversation);
    };
    const done = withinTime(sessionEndMs, work);
    this.#follow(done.catch((error) => this.#parts.observer.hookFailed('onSessionEnd', error)));
  }

  #startTimers(idleMs: number): NodeJS.Timeout[] {
    return [
      setInterval(() => this.#live.purge(), Math.min(PURGE_EVERY_MS, idleMs)).unref(),
      setInterval(() => this.#forgetOld(), this.#limits.retentionEveryMs).unref(),
    ];
  }

  #forgetOld(): void {
    const { store, settings, observer } = this.#parts;
    const gone = store.deleteOlderThan(Date.now() - settings.retentionMs);
    this.#follow(
      gone.then(
        () => undefined,
        (error) => observer.storeFailed(error),
      ),
    );
  }
}

function instancesOf(parts: EngineHostParts, limits: HostLimits): EngineInstances {
  const { registered, builtIn, settings, store, observer } = parts;
  return new EngineInstances({
    registered,
    builtIn,
    settings,
    limits,
    store,
    log: observer.log.bind(observer),
    onCloneFailed: (error) => observer.cloneFailed(registered.name, error),
    onHookFailed: hookFailed(observer),
  });
}

function hookFailed(observer: HostObserver): HostObserver['hookFailed'] {
  return observer.hookFailed.bind(observer);
}
