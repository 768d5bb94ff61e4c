import { CountFailedError } from '../backends/contract.js';
import { readBody } from '../body/raw-object.js';
import { startRefusal } from '../budget/window.js';
import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import type { Sources } from '../config/load.js';
import type { Settings } from '../config/settings.js';
import { fileKey, settingOf } from '../config/table.js';
import { createLog, exceptionType } from '../observe/log.js';
import { assemble, type Parts } from '../server/assemble.js';
import { type ModelStatus, modelStatuses } from '../server/model-status.js';
import { explainStartFailure, readSettings } from './settings.js';

const CALL_TIMEOUT_MS = 10_000;

interface CheckReport {
  readonly ok: boolean;
  readonly values: Record<string, string | number | null>;
}

/** Says everything that would be in force, and whether upstream and tokenizer answer. */
export async function check(flags: Flags, json: boolean, streams: Streams): Promise<number> {
  const loaded = readSettings(flags, streams);
  if (loaded === undefined) return EXIT.failed;
  const { settings, sources } = loaded;
  let parts: Parts;
  try {
    parts = await assemble({ settings, log: createLog('silent') });
  } catch (error) {
    explainStartFailure(error, streams);
    return EXIT.failed;
  }
  const report = await examine(settings, parts);
  const models = modelStatuses(parts);
  await parts.close();
  streams.out(
    json
      ? JSON.stringify(
          { ok: report.ok, ...report.values, models, settings: shownSettings(sources) },
          undefined,
          2,
        )
      : [lines(report.values), ...models.map(modelLine), ...settingLines(sources)].join('\n'),
  );
  return report.ok ? EXIT.ok : EXIT.failed;
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
  let answer = 'answers';
  try {
    if (parts.backend.models !== undefined) parts.models.list(await parts.backend.models(call()));
  } catch (error) {
    answer = failureText(error);
  }
  const { id } = parts.models.resolve(undefined);
  const tokenizer = await tryTokenizer(id, parts, call());
  const { contextLength, reserve, margin } = parts.models.resolve(id);
  const window = contextLength === undefined ? undefined : parts.engine.window(id, contextLength);
  const refusal = window === undefined ? undefined : startRefusal({ window, reserve, margin });
  const reachable = answer !== 'unreachable' && answer !== 'timeout';
  return {
    ok: reachable && tokenizer.ok && window !== undefined && refusal === undefined,
    values: {
      upstream: settings.upstream.url,
      upstream_state: answer,
      backend: settings.tokenizer.backend,
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

async function tryTokenizer(
  model: string | undefined,
  parts: Parts,
  call: { signal: AbortSignal; credential: string | undefined },
) {
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
    return { ok: false, text: `no exact count: ${failureText(error)}` };
  }
}

function failureText(error: unknown): string {
  return error instanceof CountFailedError ? error.code : exceptionType(error);
}

function lines(values: CheckReport['values']): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}: ${value ?? 'unknown'}`)
    .join('\n');
}
