import { type Decision, smallestPositive } from '../budget/decide.js';
import type { Visit } from '../engines/host/visit.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import { BackendContractError, decideBudget, readCaps } from './budget.js';
import { type Counted, countPrompt } from './count.js';
import { Dialogue } from './dialogue.js';
import type { Endpoint } from './endpoint.js';
import { formOf } from './form-of.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import { type Plan, unchanged } from './plan.js';
import { type GenerationRequest, readRequest } from './read.js';
import { clampToContext, factsOf, finish, isDegraded, type Situation, situate } from './situation.js';

export interface PrepareOptions {
  readonly endpoint: Endpoint;
  readonly call: ExchangeCall;
  /** The client asked for clamping only (`x-incontext-engine: none`). */
  readonly clampOnly?: boolean | undefined;
  /** Decide against the real window where the engine's window has no room: the upstream already refused once. */
  readonly recovering?: boolean | undefined;
  /** Only say what would be done: no conversation is looked for, and nothing is compressed. */
  readonly explainOnly?: boolean | undefined;
  /** A person asks for a pass now: where it does not help, the plan's reason says why. */
  readonly order?: { readonly focus: string | undefined } | undefined;
  /** Called when a compression begins, which may take a while. */
  readonly onCompressing?: (() => void) | undefined;
}

/**
 * The way of an exchange up to forwarding: read, recognise, view, select, count, decide, compress where due, write.
 * The only module that knows this order. Fails open: whatever of ours fails, the plan is the client's own bytes.
 * Rejects only when the exchange was aborted.
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
    return await planRequest(reading, options, parts);
  } catch (error) {
    options.call.signal.throwIfAborted();
    const reason = error instanceof BackendContractError ? 'backend_contract_failed' : 'internal_error';
    parts.warnings.failOpen(reason, error instanceof BackendContractError ? (error.cause ?? error) : error);
    return unchanged(sendable, reason);
  }
}

async function planRequest(
  reading: GenerationRequest,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const { request, model } = reading;
  const { endpoint } = options;
  if (!endpoint.insertsCap && smallestPositive(readCaps(request, endpoint, parts)) === undefined) {
    return unchanged(request.bytes, 'ignored', 'none', { model });
  }
  const budget = parts.models.resolve(model);
  const form = options.clampOnly === true ? undefined : formOf(request, endpoint, parts);
  const dialogue = form && Dialogue.of({ ...reading, form }, budget, options, parts);
  const begun = { ...reading, budget, clampOnly: form === undefined, dialogue };
  return planView(begun, await dialogue?.recognise(), options, parts);
}

interface Begun extends GenerationRequest {
  readonly budget: ModelBudget;
  readonly clampOnly: boolean;
  readonly dialogue: Dialogue | undefined;
}

async function planView(
  begun: Begun,
  known: Visit | undefined,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const { request, model, budget, clampOnly, dialogue } = begun;
  const { endpoint } = options;
  const isWanted = known !== undefined && (await dialogue?.wantsPass(known)) === true;
  const sent = known === undefined ? request : await (dialogue as Dialogue).select(known);
  const counted = await countPrompt(sent, budget, options.call, parts);
  if (counted.kind === 'uncounted') {
    return withVisit(unchanged(sent.bytes, counted.reason, 'none', { model }), known);
  }
  const caps = readCaps(request, endpoint, parts);
  const savedTokens = known?.savedTokens ?? 0;
  const situation = situate(
    { endpoint, request: sent, model, budget, caps, counted, clampOnly, savedTokens },
    parts,
  );
  if (isDegraded(situation, parts)) {
    return unchanged(request.bytes, 'window_too_small', counted.source, factsOf(situation));
  }
  const decision = decideBudget(situation, parts);
  if (dialogue === undefined) return withoutEngine(situation, decision, options, parts);
  const visit = known ?? (await dialogue.recogniseIfNear(situation, decision));
  // What was counted is the client's own: all of it again for what stands in its place.
  if (visit !== known && visit?.checkpoint !== undefined) return planView(begun, visit, options, parts);
  return planDialogue(dialogue, { situation, decision, counted, visit, isWanted }, options, parts);
}

function withoutEngine(
  situation: Situation,
  decision: Decision,
  { recovering, explainOnly }: PrepareOptions,
  parts: ExchangeParts,
): Plan {
  if (decision.compressDue && recovering === true) {
    return clampToContext(situation, decision, 'requires_compression', parts);
  }
  const plan = finish(situation, decision);
  const wouldCompress = explainOnly === true && decision.compressDue && parts.engine.name !== 'none';
  return wouldCompress ? { ...plan, action: 'compressed', reason: 'compression_due' } : plan;
}

interface Standing {
  readonly situation: Situation;
  readonly decision: Decision;
  readonly counted: Extract<Counted, { kind: 'counted' }>;
  readonly visit: Visit | undefined;
  /** The engine or a person wants a pass, due or not. */
  readonly isWanted: boolean;
}

async function planDialogue(
  dialogue: Dialogue,
  standing: Standing,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const { situation, decision, counted, visit, isWanted } = standing;
  const exact = counted.source !== 'rough-fallback';
  const isDue = await dialogue.isDue(visit, decision, situation);
  const uncompressed = (failure: Parameters<typeof clampToContext>[2]): Plan => {
    // Where only a rule of the engine's own is broken, the window has room.
    const plan = decision.compressDue
      ? clampToContext(situation, decision, failure, parts)
      : finish(situation, decision);
    return withVisit(plan, visit);
  };
  if (visit === undefined || !(isDue || isWanted) || !dialogue.mayCompress(exact)) {
    return dialogue.noted(uncompressed('requires_compression'), visit, situation, decision);
  }
  options.onCompressing?.();
  const result = await dialogue.compress(visit, situation, decision, exact);
  if (result.kind === 'compressed') return planCompressed(dialogue, visit, situation, options, parts);
  const told = uncompressed(result.reason);
  const done = options.order === undefined ? told : { ...told, reason: result.reason };
  return dialogue.noted(done, visit, situation, decision);
}

/** Counts and decides once more on what the engine made of the conversation. */
async function planCompressed(
  dialogue: Dialogue,
  visit: Visit,
  before: Situation,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Plan> {
  const { endpoint, model, budget, caps } = before;
  const request = await dialogue.select(visit);
  const counted = await countPrompt(request, budget, options.call, parts);
  if (counted.kind === 'uncounted') throw new TypeError('the compressed request cannot be counted');
  const { savedTokens } = visit;
  const shorter = situate(
    { endpoint, request, model, budget, caps, counted, clampOnly: false, savedTokens },
    parts,
  );
  const decision = decideBudget(shorter, parts);
  const plan = decision.compressDue
    ? clampToContext(shorter, decision, 'irreducible', parts)
    : { ...finish(shorter, decision), reason: 'compression_due' as const };
  return dialogue.noted(withVisit(plan, visit), visit, shorter, decision);
}

/** A plan whose bytes have a checkpoint in place of the first messages says so. */
function withVisit(plan: Plan, visit: Visit | undefined): Plan {
  if (visit === undefined) return plan;
  const conversation = visit.conversation.id;
  if (visit.checkpoint === undefined) return { ...plan, conversation };
  const tells = plan.reason.startsWith('cap_') || plan.reason === 'fits';
  return { ...plan, conversation, action: 'compressed', reason: tells ? 'checkpoint_reused' : plan.reason };
}
