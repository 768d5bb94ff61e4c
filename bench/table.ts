/** What one round of one peer gave. */
export interface Figure {
  /** CPU milliseconds of the peer for one request, or one chunk. */
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly failures: number;
  readonly rssMiB: number;
}

export interface Row {
  readonly name: string;
  readonly what: 'cpu' | 'chunk';
  /** The highest ratio to the bare proxy that is promised. */
  readonly bar: number | undefined;
  readonly figures: ReadonlyMap<string, readonly Figure[]>;
  readonly idle: readonly Idle[];
}

/** A peer before its first request; without figures where it is not installed. */
export interface Idle {
  readonly name: string;
  readonly figures: { readonly startMs: number; readonly rssMiB: number } | undefined;
}

const BARE = '@fastify/http-proxy';
const OURS = 'incontext-proxy';

/** Prints every figure beside its peer's of the same run, as a Markdown table. Medians of the rounds. */
export function printTable(
  rows: readonly Row[],
  run: { readonly rounds: number; readonly machine: string; readonly alone: readonly string[] },
): void {
  const out: string[] = [`${run.machine}. Medians of ${run.rounds} rounds, peers interleaved.`, ''];
  const names = [...new Set(rows.flatMap((row) => [...row.figures.keys()]))].filter(
    (name) => name !== 'direct',
  );
  out.push(
    line([
      'work',
      ...names.map((name) => `${name}, CPU`),
      'ratio',
      'bar',
      'added p50',
      'bare added p50',
      'RSS',
    ]),
  );
  out.push(line(['---', ...names.map(() => '---:'), '---:', '---:', '---:', '---:', '---:']));
  for (const row of rows) out.push(workRow(row, names));
  out.push('', line(['idle', 'start', 'RSS']), line(['---', '---:', '---:']));
  for (const { name, figures } of rows[0]?.idle ?? []) {
    const cells =
      figures === undefined
        ? ['not installed', '']
        : [`${figures.startMs.toFixed(0)} ms`, `${figures.rssMiB.toFixed(0)} MiB`];
    out.push(line([name, ...cells]));
  }
  out.push('', ...run.alone);
  process.stdout.write(`${out.join('\n')}\n`);
}

function workRow(row: Row, names: readonly string[]): string {
  const cpu = (name: string) => median(row, name, (figure) => figure.cpuMs);
  const added = (name: string) => median(row, name, (f) => f.p50Ms) - median(row, 'direct', (f) => f.p50Ms);
  const failures = [...row.figures.values()].flat().reduce((total, { failures }) => total + failures, 0);
  const ratio = cpu(OURS) / cpu(BARE);
  const isMissed = row.bar !== undefined && ratio > row.bar;
  return line([
    row.name + (failures > 0 ? ` (${failures} FAILED)` : ''),
    ...names.map((name) => (row.figures.has(name) ? cpuText(cpu(name), row.what) : '')),
    `${ratio.toFixed(2)}${isMissed ? ' MISSED' : ''}`,
    row.bar === undefined ? '' : row.bar.toFixed(1),
    row.what === 'chunk' ? '' : `${added(OURS).toFixed(2)} ms`,
    row.what === 'chunk' ? '' : `${added(BARE).toFixed(2)} ms`,
    `${median(row, OURS, (f) => f.rssMiB).toFixed(0)} MiB`,
  ]);
}

function cpuText(ms: number, what: Row['what']): string {
  return what === 'chunk' ? `${(ms * 1000).toFixed(1)} us` : `${ms.toFixed(3)} ms`;
}

function median(row: Row, name: string, of: (figure: Figure) => number): number {
  const values = (row.figures.get(name) ?? []).map(of).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
