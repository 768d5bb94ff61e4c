import { type BackendCall, CountFailedError, EstimateOnlyError } from '../backends/contract.js';
import { readBody } from '../body/raw-object.js';
import { startRefusal } from '../budget/window.js';
import { EXIT } from '../cli/parse-command.js';
import { printable } from '../cli/printable.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import type { Sources } from '../config/load.js';
import type { Settings } from '../config/settings.js';
import { fileKey, settingOf } from '../config/table.js';
import { createLog, exceptionType } from '../observe/log.js';
import { assemble, type Parts } from '../server/assemble.js';
import { type ModelStatus, modelStatuses } from '../server/model-status.js';
import { checkDeep } from './check-deep.js';
import { type DeepReport, deepNotRun, deepTable } from './deep-report.js';
import { DEEP_SHAPES } from './deep-shapes.js';
import { recognition } from './recognised.js';
import { explainStartFailure, readSettings } from './settings.js';

const CALL_TIMEOUT_MS = 10_000;

interface Finding {
  readonly ok: boolean;
  readonly text: string;
}

interface CheckReport {
  readonly ok: boolean;
  /** Both the upstream and its tokenizer answer as they should. */
  readonly answers: boolean;
  readonly values: Record<string, string | number | null>;
}

export interface CheckOptions {
  readonly json: boolean;
  /** Compare counts with what the server reports, for many shapes of requests. */
  readonly deep: boolean;
}

/** Says everything that would be in force, and whether upstream and tokenizer answer. */
export async function check(flags: Flags, { json, deep }: CheckOptions, streams: Streams): Promise<number> {
  const loaded = await readSettings(flags, streams);
  if (loaded === undefined) return EXIT.failed;
  const { settings, sources, backend, engine } = loaded;
  let parts: Parts;
  try {
    parts = await assemble({ settings, backend, engine, log: createLog('silent') });
  } catch (error) {
    explainStartFailure(error, streams);
    return EXIT.failed;
  }
  const report = await examine(settings, parts);
  const models = modelStatuses(parts);
  const compared = deep ? await compare(report, parts, streams) : undefined;
  await parts.close();
  const ok = report.ok && (compared === undefined || compared.problems.length === 0);
  streams.out(
    json
      ? JSON.stringify(
          { ok, ...report.values, models, settings: shownSettings(sources), ...deepValues(compared) },
          undefined,
          2,
        )
      : [
          ...lines(report.values).map(printable),
          ...models.map(modelLine).map(printable),
          ...settingLines(sources),
          ...(compared === undefined ? [] : ['', deepTable(compared)]),
        ].join('\n'),
  );
  return ok ? EXIT.ok : EXIT.failed;
}

function compare({ answers }: CheckReport, parts: Parts, streams: Streams): Promise<DeepReport> | DeepReport {
  if (!answers) return deepNotRun(DEEP_SHAPES.length);
  return checkDeep(parts, {
    model: parts.models.resolve(undefined).id,
    credential: parts.access.upstreamAuthorization ?? undefined,
    onProgress: (at, of, shape) => streams.err(`${at}/${of} ${shape}`),
  });
}

function deepValues(compared: DeepReport | undefined): Record<string, unknown> {
  if (compared === undefined) return {};
  const { rows, notTried, problems } = compared;
  return { deep: rows, deep_not_tried: notTried, deep_problems: problems };
}

function modelLine({ id, context_length, window, reserve, degraded }: ModelStatus): string {
  const facts = `context_length=${context_length ?? 'unknown'} window=${window ?? 'unknown'} reserve=${reserve}`;
  return `models.${id}: ${facts}${degraded ? ' degraded' : ''}`;
}

function settingLines(sources: Sources): string[] {
  return [...sources].map(([name, { shown, origin, writtenAs }]) => {
    const from = origin === 'default' ? '' : ` (from ${writtenAs})`;
    return `settings.${fileKey(name)}: ${shown || (settingOf(name).unset ?? 'none')}${from}`;
  });
}

function shownSettings(sources: Sources): Record<string, unknown> {
  return Object.fromEntries(
    [...sources].map(([name, { shown, writtenAs }]) => [
      fileKey(name),
      { value: shown ?? null, from: writtenAs },
    ]),
  );
}

async function examine(settings: Settings, parts: Parts): Promise<CheckReport> {
  const credential = parts.access.upstreamAuthorization ?? undefined;
  const call = () => ({ signal: AbortSignal.timeout(CALL_TIMEOUT_MS), credential });
  const upstream = await askForModels(settings, parts, call());
  const recognised = await recognition(settings, call());
  const { id } = parts.models.resolve(undefined);
  const tokenizer = await tryTokenizer(id, parts, call());
  const { contextLength, reserve, margin } = parts.models.resolve(id);
  const window = contextLength === undefined ? undefined : parts.engine.window(id, contextLength);
  const refusal = window === undefined ? undefined : startRefusal({ window, reserve, margin });
  const answers = upstream.ok && tokenizer.ok;
  return {
    answers,
    ok: answers && window !== undefined && refusal === undefined,
    values: {
      upstream: settings.upstream.url,
      upstream_state: upstream.text,
      backend: settings.tokenizer.backend,
      ...recognised,
      engine: parts.engine.name,
      model: id ?? null,
      context_length: contextLength ?? null,
      window: window ?? null,
      reserve,
      fallback_margin: margin,
      tokenizer: tokenizer.text,
      ...(refusal === undefined ? {} : { degraded: refusal.message }),
    },
  };
}

/** Clients may bring their own key: a server that asks for one is no fault unless the configured one was refused. */
async function askForModels(settings: Settings, parts: Parts, call: BackendCall): Promise<Finding> {
  try {
    if (parts.backend.models !== undefined) parts.models.list(await parts.backend.models(call));
    return { ok: true, text: 'answers' };
  } catch (error) {
    const text = failureText(error);
    if (!/HTTP 40[13]/.test(text)) return { ok: false, text };
    return settings.upstream.apiKey === undefined
      ? { ok: true, text: `answers, but asks for a key: ${text}` }
      : { ok: false, text: `refuses the configured key: ${text}` };
  }
}

async function tryTokenizer(model: string | undefined, parts: Parts, call: BackendCall): Promise<Finding> {
  const body = JSON.stringify({
    ...(model === undefined ? {} : { model }),
    messages: [{ role: 'user', content: 'hello' }],
  });
  const request = readBody(Buffer.from(body));
  if (request.kind !== 'object') throw new TypeError('the sample is no object');
  const { contextLength, configured } = parts.models.resolve(model);
  try {
    const count = await parts.backend.count(request.object, { ...call, contextLength, configured });
    if (!configured && count.contextLength !== undefined) parts.models.adopt(model, count.contextLength);
    return { ok: true, text: `exact (${parts.backend.source}, "hello" is ${count.tokens} tokens)` };
  } catch (error) {
    if (error instanceof EstimateOnlyError) return { ok: true, text: 'none: prompts are estimated' };
    return { ok: false, text: `no exact count: ${failureText(error)}` };
  }
}

function failureText(error: unknown): string {
  if (!(error instanceof CountFailedError)) return exceptionType(error);
  return error.message === error.code ? error.code : `${error.code} (${error.message})`;
}

function lines(values: CheckReport['values']): string[] {
  return Object.entries(values).map(([key, value]) => `${key}: ${value ?? 'unknown'}`);
}
