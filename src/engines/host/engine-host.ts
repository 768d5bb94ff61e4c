import type { RawObject } from '../../body/raw-object.js';
import { ChainReader } from '../../conversation/chain.js';
import { viewMessages } from '../../conversation/view.js';
import type { ConversationStore } from '../../store/conversation-store.js';
import { type EngineFactory, overrides } from '../contract.js';
import type { RegisteredEngine } from '../registration.js';
import { Background } from './background.js';
import { ConversationList } from './conversation-list.js';
import { type CompressionResult, ConversationPasses } from './conversation-passes.js';
import type { EngineInstance } from './engine-instance.js';
import { EngineInstances } from './engine-instances.js';
import { EngineWindows } from './engine-windows.js';
import type { ExchangeBudget, ExchangeLink } from './exchange-link.js';
import { EngineHooks, type ObservedAnswer } from './hooks.js';
import type { HostObserver } from './host-observer.js';
import type { HostSettings } from './host-settings.js';
import type { LiveConversation } from './live-conversation.js';
import { LiveConversations } from './live-conversations.js';
import { Recogniser } from './recogniser.js';
import type { Visit } from './visit.js';

const MOST_LIVE = 1000;
const SESSION_END_MS = 5000;
const PURGE_EVERY_MS = 30_000;
const RETENTION_EVERY_MS = 3_600_000;

export interface EngineHostParts {
  readonly registered: RegisteredEngine;
  /** Serves a conversation whose engine cannot be cloned. */
  readonly builtIn: EngineFactory;
  readonly settings: HostSettings;
  readonly store: ConversationStore;
  readonly observer: HostObserver;
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
  readonly #hooks: EngineHooks;
  readonly #background = new Background();
  readonly #windows: EngineWindows;
  readonly #timers: NodeJS.Timeout[];
  readonly #asksForDue: boolean;
  /** Work that goes on after an answer; a shutdown waits for it. */
  readonly #pending = new Set<Promise<void>>();

  constructor(parts: EngineHostParts) {
    const { registered, settings, store, observer, builtIn } = parts;
    this.name = registered.name;
    this.#parts = parts;
    this.#live = new LiveConversations(MOST_LIVE, settings.idleSeconds, (gone) => this.#putAway(gone));
    this.list = new ConversationList(store, this.#live);
    const log = observer.log.bind(observer);
    const instances = new EngineInstances({
      registered,
      builtIn,
      settings,
      store,
      log,
      onCloneFailed: (error) => observer.cloneFailed(registered.name, error),
    });
    this.#passes = new ConversationPasses({
      engine: registered.name,
      settings,
      store,
      instances,
      background: this.#background,
      observer,
      onCheckpoint: (tenant) => this.#recogniser.noteCheckpoint(tenant),
    });
    const engineOf = async (visit: Visit, facts: Pick<ExchangeBudget, 'model' | 'contextLength'>) => {
      const instance = await this.#passes.instanceOf(visit.conversation, facts);
      instance.useModel(facts.model, facts.contextLength);
      return instance.engine;
    };
    this.#hooks = new EngineHooks(registered.prototype, engineOf, observer);
    this.#recogniser = new Recogniser({
      engine: registered.name,
      store,
      chains: new ChainReader(),
      live: this.#live,
      observer,
      isEager: this.#hooks.areEager,
    });
    this.#windows = new EngineWindows(registered.prototype, settings);
    this.#asksForDue = overrides(registered.prototype, 'shouldCompress');
    this.#timers = [
      setInterval(() => this.#live.purge(), PURGE_EVERY_MS).unref(),
      setInterval(() => this.#forgetOld(), RETENTION_EVERY_MS).unref(),
    ];
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

  select(visit: Visit, facts: Pick<ExchangeBudget, 'model' | 'contextLength'>): Promise<RawObject> {
    return this.#hooks.select(visit, facts);
  }

  /** True where the engine or a person wants a pass, whatever the count says. */
  async wantsPass(visit: Visit, facts: Pick<ExchangeBudget, 'model' | 'contextLength'>): Promise<boolean> {
    return visit.conversation.ordered !== undefined || (await this.#hooks.wantsPass(visit, facts));
  }

  /** What the engine says where it has a rule of its own; else what the arithmetic says. */
  async isDue(
    visit: Visit | undefined,
    isDue: boolean,
    pressure: number,
    facts: Pick<ExchangeBudget, 'model' | 'contextLength'>,
  ): Promise<boolean> {
    if (!this.#asksForDue || visit === undefined) return isDue;
    try {
      const instance = await this.#passes.instanceOf(visit.conversation, facts);
      instance.useModel(facts.model, facts.contextLength);
      return (await instance.engine.shouldCompress(pressure)) === true;
    } catch (error) {
      this.#parts.observer.hookFailed('shouldCompress', error);
      return isDue;
    }
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
    const { record, unsaved } = conversation;
    conversation.unsaved = [];
    const commit = this.#parts.store.commit({ tenant: record.tenant, conversation: record, nodes: unsaved });
    this.#follow(commit.catch((error) => this.#parts.observer.storeFailed(error)));
  }

  /** True where the engine wants to see the assistant's final messages. */
  get observesTurns(): boolean {
    return this.#hooks.observeTurns;
  }

  /** After an answer was delivered. */
  answered(visit: Visit, budget: ExchangeBudget, answer: ObservedAnswer | undefined): void {
    if (answer !== undefined) this.#follow(this.#hooks.answered(visit, budget, answer));
    this.#passes.prepare(visit, budget);
  }

  /** The next request of the conversation is compressed with that focus. False where it is not known. */
  async order(id: string, focus: string | undefined): Promise<boolean> {
    const live = this.#live.get(id);
    if (live !== undefined) live.ordered = { focus };
    else if ((await this.#parts.store.conversation(id)) === undefined) return false;
    else this.#recogniser.order(id, focus);
    return true;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#background.end();
    this.#live.clear();
    await Promise.all(this.#pending);
    await this.#parts.store.close();
  }

  /** Keeps a promise that nobody waits for, so that a shutdown can. It must not reject. */
  #follow(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  #putAway(conversation: LiveConversation): void {
    const { instance } = conversation;
    if (instance !== undefined) this.#follow(this.#endSession(conversation, instance));
  }

  async #endSession(conversation: LiveConversation, made: Promise<EngineInstance>): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, SESSION_END_MS).unref());
    try {
      const { engine } = await made;
      await Promise.race([engine.onSessionEnd(conversation.id, viewMessages(conversation.lastRows)), late]);
    } catch (error) {
      this.#parts.observer.hookFailed('onSessionEnd', error);
    }
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
