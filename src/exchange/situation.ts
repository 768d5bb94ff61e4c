import type { RawObject } from '../body/raw-object.js';
import { type CallerCap, type Decision, smallestPositive } from '../budget/decide.js';
import type { Reason } from '../budget/reason.js';
import { startRefusal, windowOf } from '../budget/window.js';
import type { PassFailure } from '../engines/host/compress-view.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import { decideBudget } from './budget.js';
import type { Counted } from './count.js';
import type { ComparedCount } from './count-drift.js';
import type { Endpoint } from './endpoint.js';
import type { ExchangeParts } from './parts.js';
import { type Plan, type PlanFacts, unchanged } from './plan.js';
import { writeCap } from './write.js';

/** Where a request stands once it is counted: what a decision is made from. Token counts. */
export interface Situation {
  readonly endpoint: Endpoint;
  readonly request: RawObject;
  readonly model: string | undefined;
  readonly budget: ModelBudget;
  readonly caps: readonly CallerCap[];
  readonly window: number;
  readonly contextLength: number;
  readonly promptTokens: number;
  readonly originalPromptTokens: number;
  readonly source: string;
  readonly compared: ComparedCount | undefined;
}

export interface Counting {
  readonly endpoint: Endpoint;
  readonly request: RawObject;
  readonly model: string | undefined;
  readonly budget: ModelBudget;
  readonly caps: readonly CallerCap[];
  readonly counted: Extract<Counted, { kind: 'counted' }>;
  /** The request is clamped only: the window is the whole context. */
  readonly clampOnly: boolean;
  /** How many tokens the client's request has more than this one. */
  readonly savedTokens: number;
}

export function situate(counting: Counting, parts: ExchangeParts): Situation {
  const { endpoint, request, model, budget, caps, counted, clampOnly, savedTokens } = counting;
  const { promptTokens, contextLength, source, compared } = counted;
  const window = clampOnly
    ? windowOf({ contextLength, threshold: 1, engineUsesWholeContext: true })
    : parts.engine.window(budget.id, contextLength);
  const originalPromptTokens = promptTokens + savedTokens;
  return {
    endpoint,
    request,
    model,
    budget,
    caps,
    window,
    contextLength,
    promptTokens,
    originalPromptTokens,
    source,
    compared,
  };
}

// Written out, once for each plan: to spread an object is slower than to decide.
export function factsOf(
  { model, budget, caps, window, contextLength, promptTokens, originalPromptTokens, compared }: Situation,
  decision?: Decision,
): PlanFacts {
  const askedTokens = smallestPositive(caps)?.tokens;
  const cap = decision?.cap;
  return {
    model: model ?? budget.id,
    promptTokens,
    originalPromptTokens,
    window,
    contextLength,
    reserve: budget.reserve,
    decision,
    cap:
      cap?.kind === 'set' ? { field: cap.field, before: askedTokens ?? null, after: cap.value } : undefined,
    maxTokens: cap?.kind === 'set' ? cap.value : cap?.kind === 'keep' ? askedTokens : undefined,
    askedTokens,
    compared,
  };
}

export function isDegraded({ window, budget }: Situation, parts: ExchangeParts): boolean {
  const refusal = startRefusal({ window, reserve: budget.reserve, margin: budget.margin });
  if (refusal === undefined) return false;
  parts.warnings.degraded(parts.models.label(budget.id), window, refusal.message);
  return true;
}

/** Decides once more with the whole context as the window, so that an answer that fits the real window is given. */
export function clampToContext(
  situation: Situation,
  first: Decision,
  failure: PassFailure | 'requires_compression',
  parts: ExchangeParts,
): Plan {
  const window = situation.contextLength;
  const decision = decideBudget({ ...situation, window }, parts);
  if (decision.cap.kind === 'unviable') {
    return unchanged(situation.request.bytes, failure, situation.source, factsOf(situation, first));
  }
  const plan = finish(situation, decision);
  return { ...plan, reason: 'clamped_to_context', facts: { ...plan.facts, window } };
}

export function finish(situation: Situation, decision: Decision): Plan {
  const { request, source } = situation;
  const { cap, reason } = decision;
  const facts = factsOf(situation, decision);
  if (cap.kind !== 'set') return unchanged(request.bytes, reason, source, facts);
  return { bytes: writeCap(request, cap), action: 'clamped', reason: reason satisfies Reason, source, facts };
}
