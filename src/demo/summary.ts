import type { Row } from './row.js';

/** The demo in numbers. */
export interface Summary {
  readonly requests: number;
  /** How many requests each action was taken with. */
  readonly actions: Readonly<Record<string, number>>;
  /** Requests that the proxy's client got no answer or an error for. */
  readonly failures: number;
  /** The same requests without the proxy. */
  readonly directFailures: number;
  /** Exact counts, each the same as the server's own. */
  readonly confirmedCounts: number;
  /** Steps that did not go as told. */
  readonly surprising: readonly number[];
}

export function summarise(rows: readonly Row[]): Summary {
  const actions: Record<string, number> = {};
  for (const { told } of rows) {
    const action = told.action ?? 'untold';
    actions[action] = (actions[action] ?? 0) + 1;
  }
  return {
    requests: rows.length,
    actions,
    failures: rows.filter(({ status }) => failed(status)).length,
    directFailures: rows.filter(({ directStatus }) => failed(directStatus)).length,
    confirmedCounts: rows.filter(isConfirmed).length,
    surprising: rows.filter(({ surprises }) => surprises.length > 0).map(({ step }) => step),
  };
}

/** The summary in a few sentences, one a line. */
export function summaryText(summary: Summary): string {
  const { requests, actions, failures, directFailures, confirmedCounts, surprising } = summary;
  const done = Object.entries(actions)
    .sort(([, left], [, right]) => right - left)
    .map(([action, count]) => `${count} ${action}`);
  return [
    `${requests} requests: ${done.join(', ')}, ${failures} ${failures === 1 ? 'failure' : 'failures'}.`,
    `Sent without the proxy, ${directFailures} of them fail.`,
    ...(confirmedCounts === 0
      ? []
      : [`${confirmedCounts} exact counts, each equal to the server's own usage.`]),
    ...(surprising.length === 0
      ? []
      : [`Not as told: ${surprising.map((step) => `step ${step}`).join(', ')}.`]),
  ].join('\n');
}

function failed(status: number | undefined): boolean {
  return status === undefined || status >= 400;
}

function isConfirmed({ told, usagePromptTokens }: Row): boolean {
  const { source, promptTokens } = told;
  return source !== 'rough-fallback' && promptTokens !== undefined && promptTokens === usagePromptTokens;
}
