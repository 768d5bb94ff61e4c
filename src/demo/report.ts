import type { Row } from './row.js';
import type { Stage } from './stage.js';
import type { Summary } from './summary.js';

/** The demo as one JSON document. */
export function reportJson(
  rows: readonly Row[],
  summary: Summary,
  seconds: number,
  serving: Pick<Stage, 'proxyUrl' | 'simulatorUrl'> | undefined,
): string {
  const document = {
    ok: summary.surprising.length === 0,
    requests: summary.requests,
    actions: summary.actions,
    failures: summary.failures,
    direct_failures: summary.directFailures,
    confirmed_counts: summary.confirmedCounts,
    seconds: Math.round(seconds * 10) / 10,
    rows: rows.map(reportRow),
    ...(serving === undefined
      ? {}
      : { serving: { proxy: serving.proxyUrl, simulator: serving.simulatorUrl } }),
  };
  return JSON.stringify(document, undefined, 2);
}

function reportRow({ told, ...row }: Row): Record<string, unknown> {
  return {
    step: row.step,
    asks: row.asks,
    action: told.action ?? null,
    reason: told.reason ?? null,
    source: told.source ?? null,
    prompt_tokens: told.promptTokens ?? null,
    window: told.window ?? null,
    context_length: told.contextLength ?? null,
    cap: { before: row.caps, after: told.maxTokens ?? null },
    status: row.status ?? null,
    finish_reason: row.finishReason ?? null,
    usage_prompt_tokens: row.usagePromptTokens ?? null,
    direct_status: row.directStatus ?? null,
    note: row.note ?? null,
    surprises: row.surprises,
  };
}
