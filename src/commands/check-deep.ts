import { CountFailedError, EstimateOnlyError } from '../backends/contract.js';
import { RawObject } from '../body/raw-object.js';
import type { Parts } from '../server/assemble.js';
import { UsageTail } from '../stream/usage-tail.js';
import { wholeAnswer } from '../upstream/whole-answer.js';
import { type DeepReport, type DeepRow, deepReport, MOST_FAILURES } from './deep-report.js';
import { DEEP_SHAPES, type DeepShape } from './deep-shapes.js';

export interface DeepCall {
  readonly model: string | undefined;
  readonly credential: string | undefined;
  /** For one shape: to count it, and to have its answer. In milliseconds; default 20 s. */
  readonly limitMs?: number;
  /** Told before each, from 1. */
  readonly onProgress: (at: number, of: number, shape: string) => void;
}

interface Counted {
  readonly counted: number | null;
  readonly isExact: boolean;
  readonly failure?: string;
}

const LIMIT_MS = 20_000;
const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;
const NOT_IMPLEMENTED = 501;
/** How llama.cpp refuses an image for a model that sees none: with 500. */
const NO_IMAGES = 'image input is not supported';

/**
 * Counts every shape, sends it to the upstream, and compares. One at a time: this is no load. Ends early at a server
 * that only fails.
 */
export async function checkDeep(parts: Parts, call: DeepCall): Promise<DeepReport> {
  const rows: DeepRow[] = [];
  for (const shape of DEEP_SHAPES) {
    call.onProgress(rows.length + 1, DEEP_SHAPES.length, shape.name);
    rows.push(await rowOf(shape, call, parts));
    const last = rows.slice(-MOST_FAILURES);
    if (last.length === MOST_FAILURES && last.every(({ verdict }) => verdict === 'failed')) break;
  }
  return deepReport(rows, DEEP_SHAPES.length);
}

async function rowOf({ name, path, body }: DeepShape, call: DeepCall, parts: Parts): Promise<DeepRow> {
  const { model, credential, limitMs = LIMIT_MS } = call;
  const bytes = Buffer.from(JSON.stringify({ model, ...body }));
  const signal = AbortSignal.timeout(limitMs);
  const { counted, isExact, failure } = await count(bytes, path, call, signal, parts);
  const row = { shape: name, counted, usage: null };
  if (signal.aborted) return { ...row, verdict: 'failed', failure: failure ?? 'no answer' };
  let answer: Awaited<ReturnType<typeof wholeAnswer>>;
  try {
    answer = await wholeAnswer(parts.forwarder, { path, body: bytes, credential }, signal);
  } catch {
    return { ...row, verdict: 'failed', failure: 'no answer' };
  }
  const { status } = answer;
  if (status !== 200) {
    const isRefused = isRefusal(status) || answer.body.includes(NO_IMAGES);
    return { ...row, verdict: isRefused ? 'refused' : 'failed', status };
  }
  const usage = reported(answer.body);
  if (failure !== undefined) return { ...row, usage, verdict: 'failed', failure };
  if (usage === null && hasError(answer.body))
    return { ...row, verdict: 'failed', failure: 'an error as 200' };
  if (usage === null) return { ...row, verdict: 'no_usage' };
  return { ...row, usage, verdict: !isExact ? 'estimated' : usage === counted ? 'exact' : 'drift' };
}

/** True for a status that judges the request, and not the moment. */
function isRefusal(status: number): boolean {
  if (status === NOT_IMPLEMENTED) return true;
  return status < 500 && status !== TOO_MANY_REQUESTS && status !== REQUEST_TIMEOUT;
}

async function count(
  bytes: Buffer,
  path: string,
  { model, credential }: DeepCall,
  signal: AbortSignal,
  { backend, models }: Parts,
): Promise<Counted> {
  const request = RawObject.parse(bytes);
  if (request === undefined) throw new TypeError('a shape is no object');
  const isCounted = path === '/v1/chat/completions' || backend.counts?.(path) === true;
  if (!isCounted) return { counted: null, isExact: false };
  const { contextLength, configured } = models.resolve(model);
  try {
    const call = { signal, credential, contextLength, configured, path };
    const { tokens, rough } = await backend.count(request, call);
    return { counted: tokens, isExact: rough !== true };
  } catch (error) {
    const failure = signal.aborted ? 'timeout' : countFailure(error);
    return { counted: null, isExact: false, ...(failure && { failure: `no count: ${failure}` }) };
  }
}

/** `undefined` where the backend, or the server it asks, does not count such requests. */
function countFailure(error: unknown): string | undefined {
  if (error instanceof EstimateOnlyError) return undefined;
  if (!(error instanceof CountFailedError)) return error instanceof Error ? error.name : 'no error';
  const { code, message } = error;
  if (code === 'unsupported') return undefined;
  const status = code === 'status' ? Number(/^HTTP (\d{3})$/.exec(message)?.[1]) : Number.NaN;
  const isKeyRefused = status === 401 || status === 403;
  if (isRefusal(status) && !isKeyRefused) return undefined;
  return code === message ? code : `${code}, ${message}`;
}

/** The usage of an answer that is no stream stands near its end. */
function reported(body: Buffer): number | null {
  const tail = new UsageTail();
  tail.onData(body);
  return tail.promptTokens ?? null;
}

function hasError(body: Buffer): boolean {
  const error = RawObject.parse(body)?.value('error');
  return error !== undefined && error !== null;
}
