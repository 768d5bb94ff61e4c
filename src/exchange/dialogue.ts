import type { RawObject } from '../body/raw-object.js';
import type { Decision } from '../budget/decide.js';
import type { ChatForm } from '../chat-form/chat-form.js';
import type { CompressionResult } from '../engines/host/conversation-passes.js';
import type { EngineHost } from '../engines/host/engine-host.js';
import type { ExchangeBudget, ExchangeLink } from '../engines/host/exchange-link.js';
import type { Visit } from '../engines/host/visit.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import { countPrompt } from './count.js';
import { located } from './form-of.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import type { Plan } from './plan.js';
import type { GenerationRequest } from './read.js';
import type { Situation } from './situation.js';

export interface DialogueOptions {
  readonly call: ExchangeCall;
  readonly explainOnly?: boolean | undefined;
  /** A person asks for a pass now. */
  readonly order?: { readonly focus: string | undefined } | undefined;
}

/** A request that a context engine may drive. */
export interface DrivenRequest extends GenerationRequest {
  readonly form: ChatForm;
}

/** What an exchange and the host of its context engine say to each other. */
export class Dialogue {
  private constructor(
    private readonly host: EngineHost,
    private readonly link: ExchangeLink,
    private readonly form: ChatForm,
    private readonly budget: ModelBudget,
    private readonly call: ExchangeCall,
    private readonly order: DialogueOptions['order'],
  ) {}

  /** `undefined` where no engine has a say in this exchange. */
  static of(
    reading: DrivenRequest,
    budget: ModelBudget,
    { call, explainOnly, order }: DialogueOptions,
    parts: ExchangeParts,
  ): Dialogue | undefined {
    const { host } = parts.engine;
    if (host === undefined || explainOnly === true) return undefined;
    const link = linkOf(reading, budget, call, parts);
    return new Dialogue(host, link, reading.form, budget, call, order);
  }

  async recognise(): Promise<Visit | undefined> {
    const { order } = this;
    const visit = await this.host.recognise(this.link, this.#model, order !== undefined);
    if (order !== undefined && visit !== undefined) visit.conversation.ordered = order;
    return visit;
  }

  /** A person begins anew: so does the engine of what was said until now. */
  async reset(): Promise<void> {
    const { contextLength } = this.budget;
    const visit = await this.recognise();
    if (visit !== undefined && contextLength !== undefined)
      await this.host.reset(visit, { model: this.#model, contextLength });
  }

  /** From the soft threshold on, a conversation is worth to be known. */
  async recogniseIfNear(situation: Situation, decision: Decision): Promise<Visit | undefined> {
    const isNear =
      decision.compressDue ||
      this.host.isPastSoftThreshold(this.#facts(undefined, situation, decision, true));
    return isNear ? this.host.recognise(this.link, this.#model, true) : undefined;
  }

  async wantsPass(visit: Visit): Promise<boolean> {
    const { contextLength } = this.budget;
    return (
      contextLength !== undefined && (await this.host.wantsPass(visit, { model: this.#model, contextLength }))
    );
  }

  /** What goes upstream, in the endpoint's own form. */
  async select(visit: Visit): Promise<RawObject> {
    const { contextLength } = this.budget;
    const chat =
      contextLength === undefined
        ? visit.request
        : await this.host.select(visit, { model: this.#model, contextLength });
    return this.form.withMessagesOf(chat);
  }

  isDue(visit: Visit | undefined, decision: Decision, { contextLength }: Situation): Promise<boolean> {
    const facts = { model: this.#model, contextLength };
    return this.host.isDue(visit, decision.compressDue, decision.pressure, facts);
  }

  mayCompress(isExact: boolean): boolean {
    return isExact || this.host.compressesOnEstimate;
  }

  compress(
    visit: Visit,
    situation: Situation,
    decision: Decision,
    isExact: boolean,
  ): Promise<CompressionResult> {
    return this.host.compress(visit, this.#facts(visit, situation, decision, isExact), this.call.signal);
  }

  /** Writes down what is known of the conversation; its answer will be observed. */
  noted(plan: Plan, visit: Visit | undefined, situation: Situation, decision: Decision): Plan {
    if (visit === undefined) return plan;
    const facts = this.#facts(visit, situation, decision, plan.source !== 'rough-fallback');
    this.host.note(visit, facts);
    const { host } = this;
    return {
      ...plan,
      visit: { observesTurns: host.observesTurns, answered: (answer) => host.answered(visit, facts, answer) },
    };
  }

  get #model(): string {
    return this.budget.id ?? '';
  }

  #facts(
    visit: Visit | undefined,
    situation: Situation,
    decision: Decision,
    isExact: boolean,
  ): ExchangeBudget {
    const { contextLength, window, promptTokens, budget } = situation;
    const { reserve } = budget;
    const { required } = decision;
    const isSelection = visit !== undefined && situation.request !== this.form.withMessagesOf(visit.request);
    const model = this.#model;
    return { model, contextLength, window, reserve, required, promptTokens, isExact, isSelection };
  }
}

/** The tokenizer refuses a request that an engine made, as a strict template does with roles out of order. */
class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
}

function linkOf(
  { request, sent, model, form }: DrivenRequest,
  budget: ModelBudget,
  call: ExchangeCall,
  parts: ExchangeParts,
): ExchangeLink {
  const { credential, apiKey, fresh, path } = call;
  return {
    get request() {
      return form.chat;
    },
    get sent() {
      return form.isOwn ? sent : form.chat;
    },
    tenant: call.tenant ?? '',
    explicitId: call.conversationId ?? parts.conversationIdIn?.(request),
    read: (bytes) => located(bytes, parts.bodies),
    async count(counted, signal, mustBeAccepted) {
      const request = form.withMessagesOf(counted);
      const count = await countPrompt(request, budget, { signal, credential, apiKey, fresh, path }, parts);
      if (count.kind === 'uncounted') throw new TypeError(count.reason);
      if (mustBeAccepted && count.failure === 'status') throw new RefusedRequestError();
      return count.promptTokens;
    },
    complete: (messages, options) => parts.complete(messages, options, { model, credential, apiKey }),
  };
}
