import type { RawObject } from '../../body/raw-object.js';
import { checkSelection } from '../../conversation/check-result.js';
import type { Message, Usage } from '../../conversation/message.js';
import { settle } from '../../conversation/settle.js';
import { renderRequest } from '../../conversation/view.js';
import { type ContextEngine, overrides } from '../contract.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { HostObserver } from './host-observer.js';
import { mintUid } from './recogniser.js';
import type { Visit } from './visit.js';

type ModelFacts = Pick<ExchangeBudget, 'model' | 'contextLength'>;

/** Where hooks get the conversation's engine from. */
export type EngineOf = (visit: Visit, facts: ModelFacts) => Promise<ContextEngine>;

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
  readonly #observesTurns: boolean;
  readonly #endsSessions: boolean;

  constructor(
    prototype: ContextEngine,
    private readonly engineOf: EngineOf,
    private readonly observer: Pick<HostObserver, 'hookFailed'>,
  ) {
    this.#selects = overrides(prototype, 'selectContext');
    this.#asksFirst = overrides(prototype, 'shouldCompressPreflight');
    this.#observesTurns = overrides(prototype, 'onTurnComplete');
    this.#endsSessions = overrides(prototype, 'onSessionEnd');
  }

  /** True where every conversation matters to the engine, from its first request on. */
  get areEager(): boolean {
    return this.#selects || this.#asksFirst || this.#observesTurns || this.#endsSessions;
  }

  get observeTurns(): boolean {
    return this.#observesTurns;
  }

  get endSessions(): boolean {
    return this.#endsSessions;
  }

  /** The request with the messages that the engine selects for it, else the visit's own. */
  async select(visit: Visit, facts: ModelFacts): Promise<RawObject> {
    const { request } = visit;
    if (!this.#selects) return request;
    return await this.#guarded('selectContext', request, async () => {
      const engine = await this.engineOf(visit, facts);
      const snapshot = visit.messages();
      const selected: unknown = await engine.selectContext(visit.messages(), {
        conversationMessages: visit.messages(),
        incomingMessage: snapshot.findLast(({ role }) => role === 'user'),
        budgetTokens: engine.thresholdTokens,
      });
      if (selected === undefined || selected === null) return request;
      if (!checkSelection(snapshot, selected)) throw new TypeError('selectContext gave no list of messages');
      if (selected.length === 0) return request;
      const { rows } = settle(visit.rows, snapshot, selected, mintUid);
      return visit.link.read(renderRequest(visit.link.request, rows));
    });
  }

  /** True where the engine wants a pass before anything is counted. */
  async wantsPass(visit: Visit, facts: ModelFacts): Promise<boolean> {
    if (!this.#asksFirst) return false;
    return await this.#guarded('shouldCompressPreflight', false, async () => {
      const engine = await this.engineOf(visit, facts);
      return (await engine.shouldCompressPreflight(visit.messages())) === true;
    });
  }

  async answered(visit: Visit, facts: ModelFacts, { usage, message }: ObservedAnswer): Promise<void> {
    // An engine that nothing has asked for yet has no use for a usage.
    if (!this.areEager && visit.conversation.instance === undefined) return;
    await this.#guarded('updateFromResponse', undefined, async () => {
      const engine = await this.engineOf(visit, facts);
      await engine.updateFromResponse(usage);
    });
    if (!this.#observesTurns || message === undefined) return;
    await this.#guarded('onTurnComplete', undefined, async () => {
      const engine = await this.engineOf(visit, facts);
      await engine.onTurnComplete([...visit.messages(), message], usage as Usage);
    });
  }

  async #guarded<T>(hook: string, otherwise: T, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.observer.hookFailed(hook, error);
      return otherwise;
    }
  }
}
