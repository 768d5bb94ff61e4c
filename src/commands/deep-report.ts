/** One shape, counted and sent. */
export interface DeepRow {
  readonly shape: string;
  /** `null`: not counted. */
  readonly counted: number | null;
  /** What the server reports; `null`: nothing. */
  readonly usage: number | null;
  /** `failed`: a count or a generation that should have worked; `no_usage`: answered, with no usage to compare with. */
  readonly verdict: 'exact' | 'drift' | 'estimated' | 'refused' | 'no_usage' | 'failed';
  /** The status of an answer other than 200. */
  readonly status?: number;
  /** What failed, where it was no status of the answer. */
  readonly failure?: string;
}

/** What a comparison came to. */
export interface DeepReport {
  readonly rows: readonly DeepRow[];
  /** Shapes that were left out. */
  readonly notTried: number;
  /** Why the command fails; none: it does not. */
  readonly problems: readonly string[];
}

/** So many failures in a row end the comparison: each may cost a time limit. */
export const MOST_FAILURES = 3;

/** @param of how many shapes there are. */
export function deepReport(rows: readonly DeepRow[], of: number): DeepReport {
  const notTried = of - rows.length;
  const times = (verdict: DeepRow['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  const [drifts, failed] = [times('drift'), times('failed')];
  const compared = drifts + times('exact') + times('estimated');
  return {
    rows,
    notTried,
    problems: [
      ...(drifts === 0 ? [] : [drifts === 1 ? '1 count differs' : `${drifts} counts differ`]),
      ...(failed === 0 ? [] : [`${failed} failed`]),
      ...(notTried === 0
        ? []
        : [`stopped after ${MOST_FAILURES} failures in a row, ${notTried} of ${of} not tried`]),
      ...(compared === 0 ? ['nothing was compared'] : []),
    ],
  };
}

/** Of a server of which another check found that it is of no use. */
export function deepNotRun(of: number): DeepReport {
  const problem = 'not run: the upstream or the tokenizer fails, as said above';
  return { rows: [], notTried: of, problems: [problem] };
}

/** The rows as text, and what they come to. */
export function deepTable({ rows, problems }: DeepReport): string {
  const conclusion = problems.length === 0 ? [] : [`deep: not ok: ${problems.join('; ')}`];
  if (rows.length === 0) return conclusion.join('\n');
  const width = Math.max(...rows.map(({ shape }) => shape.length));
  const cell = (value: number | null | string) => String(value ?? '-').padStart(8);
  const tally = new Map<string, number>();
  for (const { verdict } of rows) tally.set(verdict, (tally.get(verdict) ?? 0) + 1);
  const sums = [...tally].map(([verdict, times]) => `${times} ${verdict.replace('_', ' ')}`).join(', ');
  return [
    `${'shape'.padEnd(width)} ${cell('counted')} ${cell('usage')}  verdict`,
    ...rows.map(
      (row) => `${row.shape.padEnd(width)} ${cell(row.counted)} ${cell(row.usage)}  ${verdictOf(row)}`,
    ),
    `deep: ${sums}`,
    ...conclusion,
  ].join('\n');
}

function verdictOf({ verdict, counted, usage, status, failure }: DeepRow): string {
  if (verdict === 'drift') {
    const difference = (usage ?? 0) - (counted ?? 0);
    return `drift ${difference > 0 ? '+' : ''}${difference}`;
  }
  const detail = failure ?? status;
  return detail === undefined ? verdict.replace('_', ' ') : `${verdict} (${detail})`;
}
