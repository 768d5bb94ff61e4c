import type { Log } from '../observe/log.js';
import type { Answer } from '../stream/answer.js';
import { type HeldAnswer, type RelayEnd, type RelayOptions, relay, release } from '../stream/relay.js';
import { WaitingClient } from '../stream/waiting-client.js';
import type { CredentialCheck } from '../upstream/credential-check.js';
import type { Forwarder } from '../upstream/forwarder.js';
import { headerValue, upstreamRequestHeaders } from '../upstream/headers.js';
import type { UpstreamProber } from '../upstream/prober.js';
import type { Endpoint } from './endpoint.js';
import { answerObserver, hearAnswer } from './hear-answer.js';
import { observeEnd } from './observe-end.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import { type Plan, planHeaders } from './plan.js';
import { prepareExchange } from './prepare.js';

/** One client request to an intercepted endpoint, read whole. */
export interface ExchangeRequest {
  readonly endpoint: Endpoint;
  readonly method: string;
  /** Path and query, without the configured prefix. */
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** What the `Authorization` upstream has to be: `undefined` the client's own, `null` none. */
  readonly authorization: string | null | undefined;
  readonly call: ExchangeCall;
  readonly clampOnly: boolean;
}

export interface RunParts extends ExchangeParts {
  readonly forwarder: Forwarder;
  readonly prober: UpstreamProber;
  readonly log: Log;
  readonly credentials: CredentialCheck;
}

/** Before a streaming client that waits for a compression is told so, and between its comments. */
const WAIT_GRACE_MS = 2000;
const WAIT_COMMENT_MS = 10_000;

/** Serves one exchange: prepares the request, forwards it, and tries once more after a refusal for overflow. */
export async function runExchange(request: ExchangeRequest, answer: Answer, parts: RunParts): Promise<void> {
  const startedAt = performance.now();
  try {
    const waiting = waitingClient(request, answer, parts);
    const plan = await prepare(request, parts, { onCompressing: () => waiting?.start() });
    waiting?.stop(plan === undefined ? '' : outcomeOf(plan));
    if (plan === undefined) {
      observe(request, undefined, { outcome: 'client_abort', status: 0 }, startedAt, parts);
      return;
    }
    parts.metrics.overhead.observe((performance.now() - startedAt) / 1000);
    const first = await forward(request, plan, answer, parts, isRecoverable(plan, parts));
    const [end, last] =
      first.outcome === 'held' ? await recover(request, plan, first.answer, answer, parts) : [first, plan];
    observe(request, last, end, startedAt, parts);
  } catch (error) {
    parts.warnings.failOpen('internal_error', error);
    answer.abandon();
  }
}

/** `undefined` where the client went meanwhile. */
async function prepare(
  request: ExchangeRequest,
  parts: RunParts,
  again: { fresh?: boolean; recovering?: boolean; onCompressing?: () => void },
): Promise<Plan | undefined> {
  const { endpoint, clampOnly } = request;
  const call = again.fresh === true ? anew(request.call) : request.call;
  try {
    return await prepareExchange(
      request.body,
      { endpoint, call, clampOnly, recovering: again.recovering, onCompressing: again.onCompressing },
      parts,
    );
  } catch (error) {
    if (call.signal.aborted) return undefined;
    throw error;
  }
}

function anew({ signal, credential, tenant, conversationId }: ExchangeCall): ExchangeCall {
  return { signal, credential, tenant, conversationId, fresh: true };
}

/** `undefined` where the client of this request would not understand comments. */
function waitingClient(request: ExchangeRequest, answer: Answer, parts: RunParts): WaitingClient | undefined {
  if (parts.engine.host === undefined || !wantsStream(request.body, parts)) return undefined;
  const { credential } = request.call;
  return new WaitingClient(answer, {
    graceMs: WAIT_GRACE_MS,
    everyMs: WAIT_COMMENT_MS,
    mayBegin: () => parts.credentials.areAccepted(credential),
  });
}

function wantsStream(body: Buffer, { bodies }: RunParts): boolean {
  const read = bodies.read(body);
  return read.kind === 'object' && read.object.text('stream') === 'true';
}

function outcomeOf({ action, reason, facts }: Plan): string {
  const count = facts.promptTokens === undefined ? '' : ` prompt-tokens=${facts.promptTokens}`;
  return `action=${action} reason=${reason}${count}`;
}

async function forward(
  request: ExchangeRequest,
  plan: Plan,
  answer: Answer,
  parts: RunParts,
  hold: RelayOptions['hold'],
  headersOf: (status: number) => string[] = () => planHeaders(plan),
): Promise<RelayEnd> {
  const observer = answerObserver(plan);
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: request.authorization,
    rewritten: plan.bytes !== request.body,
    contentLength: plan.bytes.length,
    // What is observed, and what follows a head of ours, has to come as it is.
    plain: observer !== undefined || answer.begun,
  });
  const { method, path } = request;
  const onData = observer && ((chunk: Buffer) => observer.onData(chunk));
  const end = await relay(parts.forwarder, { method, path, headers, body: plan.bytes }, answer, {
    ownHeaders: headersOf,
    hold,
    onData,
  });
  if (end.outcome !== 'held') hearAnswer(plan, observer, end);
  return end;
}

/** Only requests that were read and counted can be prepared once more. */
function isRecoverable(plan: Plan, parts: RunParts): RelayOptions['hold'] {
  if (plan.source === 'none' || parts.backend.isOverflow === undefined) return undefined;
  return (status, rawHeaders) =>
    status >= 400 && status < 500 && headerValue(rawHeaders, 'content-encoding') === undefined;
}

/** The upstream refused. Where it says that the context overflowed, and a fresh count gives other bytes: once more. */
async function recover(
  request: ExchangeRequest,
  sent: Plan,
  held: HeldAnswer,
  answer: Answer,
  parts: RunParts,
): Promise<[RelayEnd, Plan]> {
  const giveBack = (): [RelayEnd, Plan] => {
    release(held, answer, planHeaders(sent));
    return [{ outcome: 'complete', status: held.status }, sent];
  };
  if (!refusesForOverflow(held, parts)) return giveBack();
  const again = await prepare(request, parts, { fresh: true, recovering: true });
  if (again === undefined) return [{ outcome: 'client_abort', status: 0 }, sent];
  if (again.bytes.equals(sent.bytes)) return giveBack();
  const recovered: Plan = { ...again, reason: 'overflow_recovered' };
  let went: Plan = again;
  const end = await forward(request, again, answer, parts, undefined, (status) => {
    went = status < 400 ? recovered : again;
    return planHeaders(went);
  });
  return [end, went];
}

function refusesForOverflow(held: HeldAnswer, parts: RunParts): boolean {
  try {
    return parts.backend.isOverflow?.(held.status, held.body.toString()) === true;
  } catch (error) {
    parts.warnings.failOpen('backend_contract_failed', error);
    return false;
  }
}

function observe(
  request: ExchangeRequest,
  plan: Plan | undefined,
  end: RelayEnd,
  startedAt: number,
  parts: RunParts,
): void {
  if (end.outcome === 'held') return;
  if (plan !== undefined) observePlan(plan, parts);
  const { facts } = plan ?? { facts: undefined };
  const fields = {
    route: request.endpoint.name,
    action: plan?.action,
    reason: plan?.reason,
    source: plan?.source,
    model: facts?.model === undefined ? undefined : parts.models.label(facts.model),
    prompt_tokens: facts?.promptTokens,
    window: facts?.window,
    max_tokens: facts?.maxTokens,
  };
  observeEnd(fields, end, startedAt, parts);
}

function observePlan(plan: Plan, { metrics }: RunParts): void {
  const { facts } = plan;
  metrics.decided(plan.action, plan.reason);
  if (facts.originalPromptTokens !== undefined)
    metrics.promptTokens.observe({ stage: 'original' }, facts.originalPromptTokens);
  if (facts.promptTokens !== undefined) metrics.promptTokens.observe({ stage: 'sent' }, facts.promptTokens);
  if (facts.askedTokens !== undefined) metrics.capTokens.observe({ stage: 'asked' }, facts.askedTokens);
  const sentCap = facts.maxTokens ?? (plan.action === 'unchanged' ? facts.askedTokens : undefined);
  if (sentCap !== undefined) metrics.capTokens.observe({ stage: 'sent' }, sentCap);
}
