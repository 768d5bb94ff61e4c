import { hash } from 'node:crypto';
import {
  type Backend,
  type CountCall,
  CountFailedError,
  type CountFailure,
  EstimateOnlyError,
  ModelUnknownError,
} from '../backends/contract.js';
import { isSource } from '../backends/registry.js';
import type { RawObject } from '../body/raw-object.js';
import { estimatedPrompt } from '../budget/window.js';
import { estimateRequest } from '../estimate/estimate-request.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import type { ComparedCount } from './count-drift.js';
import { Deadlines } from './deadlines.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import { shapeOf } from './request-shape.js';

/** So that a backend's own deadline comes first. */
const GRACE_MS = 500;
/** Not certain to be what the upstream renders. */
const ROUGH = 'rough-fallback';
const CHAT = '/v1/chat/completions';
const deadlines = new Deadlines();

/** P and where it came from, or why there is none. */
export type Counted =
  | {
      readonly kind: 'counted';
      readonly promptTokens: number;
      readonly source: string;
      readonly contextLength: number;
      /** Why there is no exact count, where P is an estimate. */
      readonly failure?: CountFailure | undefined;
      /** What the answer's usage tells something about. */
      readonly compared?: ComparedCount | undefined;
    }
  | {
      readonly kind: 'uncounted';
      readonly reason:
        | 'model_unknown'
        | 'window_unknown'
        | 'both_counters_failed'
        | 'backend_contract_failed';
    };

/** The exact P, else the estimate + F, else nothing. Rejects only when the exchange was aborted. */
export async function countPrompt(
  request: RawObject,
  budget: ModelBudget,
  call: ExchangeCall,
  parts: ExchangeParts,
): Promise<Counted> {
  try {
    return await countExactly(request, budget, call, parts);
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof ModelUnknownError) return { kind: 'uncounted', reason: 'model_unknown' };
    if (error instanceof EstimateOnlyError) return estimate(request, budget, call, parts);
    const failure = noteFailure(error, budget, parts);
    const estimated = await estimate(request, budget, call, parts);
    return estimated.kind === 'counted' ? { ...estimated, failure } : estimated;
  }
}

async function countExactly(
  request: RawObject,
  budget: ModelBudget,
  call: ExchangeCall,
  parts: ExchangeParts,
): Promise<Counted> {
  const { backend, models } = parts;
  const { contextLength, configured } = budget;
  if (!countsRequestsOf(call.path, backend)) throw new EstimateOnlyError('path');
  const count = await withinTime(parts, backend.count(request, countCall(call, budget)));
  if (!Number.isSafeInteger(count.tokens) || count.tokens < 0) {
    return { kind: 'uncounted', reason: 'backend_contract_failed' };
  }
  const reported = configured ? contextLength : (count.contextLength ?? contextLength);
  if (!configured && reported !== undefined && reported !== contextLength) models.adopt(budget.id, reported);
  const length = reported ?? (await describedLength(budget, call, parts));
  if (length === undefined) return { kind: 'uncounted', reason: 'window_unknown' };
  if (count.rough === true) {
    const promptTokens = count.tokens + budget.margin;
    return { kind: 'counted', promptTokens, source: ROUGH, contextLength: length };
  }
  const shape = shapeOf(request, call.path);
  if (shape === undefined) {
    return { kind: 'counted', promptTokens: count.tokens, source: sourceOf(backend), contextLength: length };
  }
  const compared = {
    caller: callerOf(call),
    model: budget.id,
    shape,
    tokens: count.tokens,
    contextLength: length,
  };
  const { tokens, isCertain } = parts.drift.corrected(compared, budget.margin);
  const source = isCertain ? sourceOf(backend) : ROUGH;
  return { kind: 'counted', promptTokens: tokens, source, contextLength: length, compared };
}

/** Without tenants callers are told apart by what they authenticate with: kept as a hash. */
function callerOf({ tenant, credential, apiKey }: ExchangeCall): string | undefined {
  if (tenant !== undefined) return tenant;
  const secret = credential ?? apiKey;
  return secret === undefined ? undefined : hash('sha256', secret, 'base64url');
}

/** A backend that does not say so counts chats: of anything else it would count something else. */
function countsRequestsOf(path: string | undefined, backend: Backend): boolean {
  if (path === undefined || path === CHAT) return true;
  return backend.counts?.(path) === true;
}

/** A backend of a third party may forget its deadline. */
function withinTime<T>({ countSeconds }: ExchangeParts, answer: Promise<T>): Promise<T> {
  return deadlines.within(countSeconds * 1000 + GRACE_MS, answer, () => new CountFailedError('timeout'));
}

// Own properties, the signal's among them: a backend may copy its call along.
function countCall(call: ExchangeCall, { contextLength, configured }: ModelBudget): CountCall {
  const { credential, apiKey, fresh, path } = call;
  return {
    get signal() {
      return call.signal;
    },
    credential,
    apiKey,
    fresh,
    path,
    contextLength,
    configured,
  };
}

async function estimate(
  request: RawObject,
  budget: ModelBudget,
  call: ExchangeCall,
  parts: ExchangeParts,
): Promise<Counted> {
  const contextLength = budget.contextLength ?? (await describedLength(budget, call, parts));
  if (contextLength === undefined) return { kind: 'uncounted', reason: 'window_unknown' };
  try {
    const rough = (parts.estimate ?? estimateRequest)(parse(request), call.path);
    const promptTokens = estimatedPrompt(rough, budget.margin);
    if (!Number.isSafeInteger(promptTokens)) return { kind: 'uncounted', reason: 'both_counters_failed' };
    return { kind: 'counted', promptTokens, source: ROUGH, contextLength };
  } catch (error) {
    parts.warnings.failOpen('both_counters_failed', error);
    return { kind: 'uncounted', reason: 'both_counters_failed' };
  }
}

/** Asks the backend for the length that neither the operator, nor the model list, nor a count has told. */
async function describedLength(
  budget: ModelBudget,
  call: ExchangeCall,
  parts: ExchangeParts,
): Promise<number | undefined> {
  // Each try at a server that takes no connection would cost the client one more connect timeout.
  if (!parts.upstream.reachable) return undefined;
  try {
    const length = await withinTime(parts, parts.backend.describe(budget.id, call));
    if (length !== undefined && Number.isSafeInteger(length) && length > 0) {
      parts.models.adopt(budget.id, length);
      return length;
    }
  } catch {
    call.signal.throwIfAborted();
  }
  return undefined;
}

function parse(request: RawObject): unknown {
  return JSON.parse(request.bytes.toString().replace(/^\uFEFF/, ''));
}

function noteFailure(error: unknown, budget: ModelBudget, parts: ExchangeParts): CountFailure {
  const code = error instanceof CountFailedError ? error.code : 'other';
  parts.metrics.countFailed(code);
  if (code === 'window_mismatch') parts.warnings.windowMismatch(parts.models.label(budget.id));
  else parts.warnings.countFailed(code, error);
  return code;
}

function sourceOf(backend: Backend): string {
  try {
    const { source } = backend;
    return isSource(source) ? source : 'unknown-backend';
  } catch {
    return 'unknown-backend';
  }
}
