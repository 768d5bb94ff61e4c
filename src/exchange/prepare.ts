import type { RawObject } from '../body/raw-object.js';
import { type CallerCap, type Decision, smallestPositive } from '../budget/decide.js';
import type { Reason } from '../budget/reason.js';
import { startRefusal } from '../budget/window.js';
import type { CompressionResult } from '../engines/context-manager.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import { BackendContractError, decideBudget, readCaps } from './budget.js';
import { type Counted, countPrompt } from './count.js';
import type { Endpoint } from './endpoint.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import { type Plan, type PlanFacts, unchanged } from './plan.js';
import { readRequest } from './read.js';
import { writeCap } from './write.js';

export interface PrepareOptions {
  readonly endpoint: Endpoint;
  readonly call: ExchangeCall;
  /** The client asked for clamping only (`x-incontext-engine: none`). */
  readonly clampOnly?: boolean | undefined;
  /** Decide against the real window where the engine's window has no room: the upstream already refused once. */
  readonly recovering?: boolean | undefined;
}

/**
 * The way of an exchange up to forwarding: read, count, decide, compress where due, write. The only module that
 * knows this order. Fails open: whatever of ours fails, the plan is the client's own bytes. Rejects only when the
 * exchange was aborted.
 */
export async function prepareExchange(
  bytes: Buffer,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  let sendable = bytes;
  try {
    const reading = readRequest(bytes, options.endpoint, parts.bodies);
    if (reading.kind === 'pass') return unchanged(bytes, reading.reason);
    sendable = reading.request.bytes;
    return await planRequest(reading.request, reading.model, options, parts);
  } catch (error) {
    options.call.signal.throwIfAborted();
    const reason = error instanceof BackendContractError ? 'backend_contract_failed' : 'internal_error';
    parts.warnings.failOpen(reason, error instanceof BackendContractError ? (error.cause ?? error) : error);
    return unchanged(sendable, reason);
  }
}

async function planRequest(
  request: RawObject,
  model: string | undefined,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const budget = parts.models.resolve(model);
  const counted = await countPrompt(request, budget, options.call, parts);
  if (counted.kind === 'uncounted') return unchanged(request.bytes, counted.reason, 'none', { model });
  const caps = readCaps(request, options.endpoint, parts);
  const situation = situate(request, model, budget, counted, caps, parts);
  if (isDegraded(situation, parts)) {
    return unchanged(request.bytes, 'window_too_small', counted.source, factsOf(situation));
  }
  const decision = decideBudget(situation, parts);
  if (!decision.compressDue) return finish(situation, decision);
  return overWindow(situation, decision, options, parts);
}

interface Situation {
  readonly request: RawObject;
  readonly model: string | undefined;
  readonly budget: ModelBudget;
  readonly caps: readonly CallerCap[];
  readonly window: number;
  readonly contextLength: number;
  readonly promptTokens: number;
  readonly originalPromptTokens: number;
  readonly source: string;
}

function situate(
  request: RawObject,
  model: string | undefined,
  budget: ModelBudget,
  counted: Extract<Counted, { kind: 'counted' }>,
  caps: readonly CallerCap[],
  parts: ExchangeParts,
  originalPromptTokens = counted.promptTokens,
): Situation {
  const { promptTokens, contextLength, source } = counted;
  const window = parts.engine.window(budget.id, contextLength);
  return {
    request,
    model,
    budget,
    caps,
    window,
    contextLength,
    promptTokens,
    originalPromptTokens,
    source,
  };
}

// Written out, once for each plan: to spread an object is slower than to decide.
function factsOf(
  { model, budget, caps, window, contextLength, promptTokens, originalPromptTokens }: Situation,
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
  };
}

function isDegraded({ window, budget }: Situation, parts: ExchangeParts): boolean {
  const refusal = startRefusal({ window, reserve: budget.reserve, margin: budget.margin });
  if (refusal === undefined) return false;
  parts.warnings.degraded(parts.models.label(budget.id), window, refusal.message);
  return true;
}

async function overWindow(
  situation: Situation,
  decision: Decision,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const { compress } = parts.engine;
  if (compress === undefined || options.clampOnly === true) {
    return options.recovering === true
      ? clampToContext(situation, decision, 'requires_compression', parts)
      : finish(situation, decision);
  }
  const { request, model, promptTokens } = situation;
  const pass = { request, model, promptTokens, decision, signal: options.call.signal };
  const result = await compress.call(parts.engine, pass);
  if (result.kind === 'failed') return clampToContext(situation, decision, result.reason, parts);
  return planCompressed(result.bytes, situation, options, parts);
}

/** Counts and decides once more on what the engine made of the conversation. */
async function planCompressed(
  bytes: Buffer,
  situation: Situation,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const reading = readRequest(bytes, options.endpoint, parts.bodies);
  if (reading.kind === 'pass') throw new TypeError('the engine returned no request');
  const counted = await countPrompt(reading.request, situation.budget, options.call, parts);
  if (counted.kind === 'uncounted') throw new TypeError('the compressed request cannot be counted');
  const { budget, caps, model } = situation;
  const shorter = situate(reading.request, model, budget, counted, caps, parts, situation.promptTokens);
  const decision = decideBudget(shorter, parts);
  if (decision.compressDue) return clampToContext(shorter, decision, 'irreducible', parts);
  const plan = finish(shorter, decision);
  return { ...plan, action: 'compressed', reason: 'compression_due' };
}

type PassFailure = Extract<CompressionResult, { kind: 'failed' }>['reason'] | 'requires_compression';

/** Decides once more with the whole context as the window, so that an answer that fits the real window is given. */
function clampToContext(
  situation: Situation,
  first: Decision,
  failure: PassFailure,
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

function finish(situation: Situation, decision: Decision): Plan {
  const { request, source } = situation;
  const { cap, reason } = decision;
  const facts = factsOf(situation, decision);
  if (cap.kind !== 'set') return unchanged(request.bytes, reason, source, facts);
  return { bytes: writeCap(request, cap), action: 'clamped', reason: reason satisfies Reason, source, facts };
}
