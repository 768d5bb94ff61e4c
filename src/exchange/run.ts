import type { Answer } from '../stream/answer.js';
import { type HeldAnswer, type RelayEnd, type RelayOptions, relay, release } from '../stream/relay.js';
import type { Forwarder } from '../upstream/forwarder.js';
import { headerValue, upstreamRequestHeaders } from '../upstream/headers.js';
import { answerWithText } from './command-answer.js';
import { type Command, type Heard, hearCommands } from './commands.js';
import { compareUsage, usageTail } from './compare-usage.js';
import type { Endpoint } from './endpoint.js';
import { answerObserver, hearAnswer } from './hear-answer.js';
import { obey } from './obey.js';
import type { ObserveParts } from './observe-end.js';
import { observeExchange } from './observe-exchange.js';
import type { ExchangeCall, ExchangeParts } from './parts.js';
import { type Plan, planHeaders } from './plan.js';
import { prepareExchange } from './prepare.js';
import { Waiting, type WaitingParts } from './waiting.js';

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

export interface RunParts extends ExchangeParts, ObserveParts, WaitingParts {
  readonly forwarder: Forwarder;
  /** True where the proxy itself answers `/compress`, `/new` and `/reset`. */
  readonly obeysCommands: boolean;
}

/** An exchange under way. */
interface Exchange {
  readonly request: ExchangeRequest;
  /** What is left of the request's body without commands and their answers. */
  readonly body: Buffer;
  readonly answer: Answer;
  readonly waiting: Waiting;
  readonly parts: RunParts;
}

/** Serves one exchange: prepares the request, forwards it, and tries once more after a refusal for overflow. */
export async function runExchange(request: ExchangeRequest, answer: Answer, parts: RunParts): Promise<void> {
  const startedAt = performance.now();
  try {
    const { body, command } = heard(request, parts);
    const waiting = new Waiting(request.body, request.call.credential, answer, parts);
    const exchange: Exchange = { request, body, answer, waiting, parts };
    const [end, plan] = await (command === undefined
      ? serve(exchange, startedAt)
      : obeyed(exchange, command));
    observeExchange(request.endpoint, plan, end, startedAt, parts);
  } catch (error) {
    parts.warnings.failOpen('internal_error', error);
    answer.abandon();
  }
}

function heard({ body, endpoint }: ExchangeRequest, { obeysCommands, bodies, warnings }: RunParts): Heard {
  if (!obeysCommands || endpoint.form !== 'chat') return { body, command: undefined };
  try {
    return hearCommands(body, bodies);
  } catch (error) {
    warnings.failOpen('internal_error', error);
    return { body, command: undefined };
  }
}

type Served = readonly [RelayEnd, Plan | undefined];

const GONE: Served = [{ outcome: 'client_abort', status: 0 }, undefined];

async function serve(exchange: Exchange, startedAt: number): Promise<Served> {
  const { parts } = exchange;
  const plan = await prepare(exchange, {});
  if (plan === undefined) return GONE;
  parts.metrics.overhead.observe((performance.now() - startedAt) / 1000);
  const first = await forward(exchange, plan, isRecoverable(plan, parts));
  return first.outcome === 'held' ? await recover(exchange, plan, first.answer) : [first, plan];
}

/** Does what a person told the proxy, and answers in the model's place. */
async function obeyed(exchange: Exchange, command: Command): Promise<Served> {
  const { request, body, answer, waiting, parts } = exchange;
  const { endpoint, call, clampOnly } = request;
  try {
    const onCompressing = () => waiting.start();
    const { plan, text } = await obey(command, body, { endpoint, call, clampOnly, onCompressing }, parts);
    waiting.stop(plan);
    if (answer.over) return GONE;
    answerWithText(text, request.body, plan, answer, parts.bodies);
    return [{ outcome: 'complete', status: 200 }, plan];
  } catch (error) {
    waiting.stop(undefined);
    if (call.signal.aborted) return GONE;
    throw error;
  }
}

/** `undefined` where the client went meanwhile. */
async function prepare(
  { request, body, waiting, parts }: Exchange,
  again: { readonly fresh?: boolean; readonly recovering?: boolean },
): Promise<Plan | undefined> {
  const { endpoint, clampOnly } = request;
  const { recovering } = again;
  const call = again.fresh === true ? anew(request.call) : request.call;
  const onCompressing = () => waiting.start();
  try {
    const plan = await prepareExchange(body, { endpoint, call, clampOnly, recovering, onCompressing }, parts);
    waiting.stop(plan);
    return plan;
  } catch (error) {
    waiting.stop(undefined);
    if (call.signal.aborted) return undefined;
    throw error;
  }
}

function anew({ signal, credential, apiKey, tenant, conversationId, path }: ExchangeCall): ExchangeCall {
  return { signal, credential, apiKey, tenant, conversationId, path, fresh: true };
}

async function forward(
  { request, answer, parts }: Exchange,
  plan: Plan,
  hold: RelayOptions['hold'],
  headersOf: (status: number) => string[] = () => planHeaders(plan),
): Promise<RelayEnd> {
  const observer = answerObserver(plan);
  const tail = usageTail(plan, observer);
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: request.authorization,
    rewritten: plan.bytes !== request.body,
    contentLength: plan.bytes.length,
    // What is observed, and what follows a head of ours, has to come as it is.
    plain: observer !== undefined || answer.begun,
  });
  const { method, path } = request;
  const reader = observer ?? tail;
  const onData = reader && ((chunk: Buffer) => reader.onData(chunk));
  const end = await relay(parts.forwarder, { method, path, headers, body: plan.bytes }, answer, {
    ownHeaders: headersOf,
    hold,
    onData,
  });
  if (end.outcome !== 'held') hearAnswer(plan, observer, end);
  compareUsage(plan, tail, end, parts);
  return end;
}

/** Only requests that were read and counted can be prepared once more. */
function isRecoverable(plan: Plan, parts: RunParts): RelayOptions['hold'] {
  if (plan.source === 'none' || parts.backend.isOverflow === undefined) return undefined;
  return (status, rawHeaders) =>
    status >= 400 && status < 500 && headerValue(rawHeaders, 'content-encoding') === undefined;
}

/** The upstream refused. Where it says that the context overflowed, and a fresh count gives other bytes: once more. */
async function recover(exchange: Exchange, sent: Plan, held: HeldAnswer): Promise<Served> {
  const { answer, parts } = exchange;
  const giveBack = (): Served => {
    release(held, answer, planHeaders(sent));
    return [{ outcome: 'complete', status: held.status }, sent];
  };
  if (!refusesForOverflow(held, parts)) return giveBack();
  const again = await prepare(exchange, { fresh: true, recovering: true });
  if (again === undefined) return [{ outcome: 'client_abort', status: 0 }, sent];
  if (again.bytes.equals(sent.bytes)) return giveBack();
  const recovered: Plan = { ...again, reason: 'overflow_recovered' };
  let went: Plan = again;
  const end = await forward(exchange, again, undefined, (status) => {
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
