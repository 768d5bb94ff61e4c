import {
  type BackendCall,
  CountFailedError,
  EstimateOnlyError,
  ModelUnknownError,
} from '../backends/contract.js';
import { RawObject } from '../body/raw-object.js';
import type { Parts } from '../server/assemble.js';
import { UsageTail } from '../stream/usage-tail.js';
import { wholeAnswer } from '../upstream/whole-answer.js';
import { DEEP_SHAPES, type DeepShape } from './deep-shapes.js';

/** One shape, counted and sent. */
export interface DeepRow {
  readonly shape: string;
  /** `null`: not counted. */
  readonly counted: number | null;
  /** What the server reports; `null`: nothing. */
  readonly usage: number | null;
  /** `no_usage`: answered, without a usage to compare with. */
  readonly verdict: 'exact' | 'drift' | 'estimated' | 'refused' | 'no_usage' | 'unreachable';
  /** The status of a refusal. */
  readonly status?: number;
}

const ANSWER_TIMEOUT_MS = 60_000;

/**
 * Counts every shape, sends it to the upstream, and compares. One at a time: this is no load.
 * @param onProgress told before each, from 1.
 */
export async function checkDeep(
  parts: Parts,
  model: string | undefined,
  credential: string | undefined,
  onProgress: (done: number, of: number, shape: string) => void,
): Promise<DeepRow[]> {
  const rows: DeepRow[] = [];
  for (const shape of DEEP_SHAPES) {
    onProgress(rows.length + 1, DEEP_SHAPES.length, shape.name);
    rows.push(await rowOf(shape, model, credential, parts));
  }
  return rows;
}

/** False where counts differ from the usage, or nothing could be compared although the backend counts. */
export function isDeepOk(rows: readonly DeepRow[]): boolean {
  if (rows.some(({ verdict }) => verdict === 'drift')) return false;
  return rows.some(({ verdict }) => verdict === 'exact' || verdict === 'estimated');
}

/** The rows as text, and what they come to. */
export function deepTable(rows: readonly DeepRow[]): string {
  const width = Math.max(...rows.map(({ shape }) => shape.length));
  const cell = (value: number | null | string) => String(value ?? '-').padStart(8);
  const lines = rows.map(
    (row) => `${row.shape.padEnd(width)} ${cell(row.counted)} ${cell(row.usage)}  ${verdictOf(row)}`,
  );
  const tally = new Map<string, number>();
  for (const { verdict } of rows) tally.set(verdict, (tally.get(verdict) ?? 0) + 1);
  const sums = [...tally].map(([verdict, times]) => `${times} ${verdict.replace('_', ' ')}`).join(', ');
  return [
    `${'shape'.padEnd(width)} ${cell('counted')} ${cell('usage')}  verdict`,
    ...lines,
    `deep: ${sums}`,
  ].join('\n');
}

function verdictOf({ verdict, counted, usage, status }: DeepRow): string {
  if (verdict === 'drift') {
    const difference = (usage ?? 0) - (counted ?? 0);
    return `drift ${difference > 0 ? '+' : ''}${difference}`;
  }
  return status === undefined ? verdict.replace('_', ' ') : `${verdict} (${status})`;
}

async function rowOf(
  { name, path, body }: DeepShape,
  model: string | undefined,
  credential: string | undefined,
  parts: Parts,
): Promise<DeepRow> {
  const bytes = Buffer.from(JSON.stringify({ model, ...body }));
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const { counted, isExact } = await count(bytes, path, model, { signal, credential }, parts);
  try {
    const answer = await wholeAnswer(parts.forwarder, { path, body: bytes, credential }, signal);
    if (answer.status !== 200) {
      return { shape: name, counted, usage: null, verdict: 'refused', status: answer.status };
    }
    const usage = reported(answer.body);
    if (usage === null) return { shape: name, counted, usage, verdict: 'no_usage' };
    const verdict = !isExact ? 'estimated' : usage === counted ? 'exact' : 'drift';
    return { shape: name, counted, usage, verdict };
  } catch {
    return { shape: name, counted, usage: null, verdict: 'unreachable' };
  }
}

async function count(
  bytes: Buffer,
  path: string,
  model: string | undefined,
  call: BackendCall,
  { backend, models }: Parts,
): Promise<{ counted: number | null; isExact: boolean }> {
  const request = RawObject.parse(bytes);
  if (request === undefined) throw new TypeError('a shape is no object');
  const isCounted = path === '/v1/chat/completions' || backend.counts?.(path) === true;
  if (!isCounted) return { counted: null, isExact: false };
  const { contextLength, configured } = models.resolve(model);
  try {
    const { tokens, rough } = await backend.count(request, { ...call, contextLength, configured, path });
    return { counted: tokens, isExact: rough !== true };
  } catch (error) {
    const isKnown =
      error instanceof CountFailedError ||
      error instanceof EstimateOnlyError ||
      error instanceof ModelUnknownError;
    if (!isKnown && !call.signal.aborted) throw error;
    return { counted: null, isExact: false };
  }
}

/** The usage of an answer that is no stream stands near its end. */
function reported(body: Buffer): number | null {
  const tail = new UsageTail();
  tail.onData(body);
  return tail.promptTokens ?? null;
}
