import { barOf, type RowCells, rowCells, type Span } from './cells.js';
import type { Ink } from './ink.js';
import type { Row } from './row.js';

/** Writes a table line by line, as its rows come. */
export interface Layout {
  head(window: number): string;
  row(row: Row): string;
  /** What comes below the rows. */
  foot(text: string): string;
  /** A row that is still being answered. */
  begun(step: number, asks: string): string;
}

const INDENT = 4;
const GAP = '  ';
const WIDTHS = { asks: 31, action: 10, reason: 20, count: 19, cap: 19, status: 6 } as const;
const WIDE_ASKS = 27;
/** Everything of a wide row but its bar. */
const WIDE_FIXED = INDENT + WIDE_ASKS + 10 + 20 + 19 + 19 + 6 + 6 + 7 * GAP.length;
const NARROW_FIXED = INDENT + 10 + 20 + 19 + 3 * GAP.length;
const LEAST_COLUMNS = 80;
const LEAST_WIDE_BAR = 15;
const LONGEST_BAR = 48;

/** One line for each row where the terminal has the room, two and an empty one otherwise. */
export function layoutFor(columns: number, ink: Ink): Layout {
  const isWide = columns >= WIDE_FIXED + LEAST_WIDE_BAR;
  const room = isWide ? columns - WIDE_FIXED : Math.max(columns, LEAST_COLUMNS) - NARROW_FIXED;
  const barWidth = Math.min(room, LONGEST_BAR);
  const write = isWide ? wideLine : narrowLines;
  const after = isWide ? '' : '\n';
  return {
    head: (window) => {
      const bar = column(faint(windowHeading(window, barWidth)), barWidth, ink);
      return write('  ', HEADINGS, bar, ink) + after;
    },
    row: (row) => {
      const cells = write(numberOf(row.step, ink), rowCells(row, ink), barOf(row, barWidth, ink), ink);
      return withRemarks(cells, row, ink) + after;
    },
    foot: (text) => (isWide ? `\n${text}` : text),
    begun: (step, asks) => `${numberOf(step, ink)}${GAP}${ink.paint('faint', `${asks} ...`)}`,
  };
}

const HEADINGS: RowCells = {
  asks: faint('the client asks for'),
  action: faint('done'),
  reason: faint('why'),
  count: faint('prompt, counted by'),
  cap: faint('output cap'),
  status: faint('answer'),
  direct: faint('direct'),
};

function wideLine(number: string, cells: RowCells, bar: string, ink: Ink): string {
  return joined([
    number,
    column(cells.asks, WIDE_ASKS, ink),
    ...doneColumns(cells, ink),
    bar,
    ...answeredColumns(cells, ink),
  ]);
}

function narrowLines(number: string, cells: RowCells, bar: string, ink: Ink): string {
  const asked = joined([number, column(cells.asks, WIDTHS.asks, ink), ...answeredColumns(cells, ink)]);
  const done = joined(['  ', ...doneColumns(cells, ink), bar]);
  return `${asked}\n${done}`;
}

function doneColumns({ action, reason, count }: RowCells, ink: Ink): string[] {
  return [
    column(action, WIDTHS.action, ink),
    column(reason, WIDTHS.reason, ink),
    column(count, WIDTHS.count, ink),
  ];
}

function answeredColumns({ cap, status, direct }: RowCells, ink: Ink): string[] {
  return [
    column(cap, WIDTHS.cap, ink),
    column(status, WIDTHS.status, ink),
    ink.paint(direct.tone, direct.text),
  ];
}

function faint(text: string): Span {
  return { tone: 'faint', text };
}

function windowHeading(window: number, width: number): string {
  const long = `window of ${window} tokens`;
  return long.length <= width ? long : `window of ${window}`;
}

function numberOf(step: number, ink: Ink): string {
  return ink.paint('faint', String(step).padStart(2));
}

/** Padded outside the paint, so that no line ends in painted spaces. */
function column({ tone, text }: Span, width: number, ink: Ink): string {
  return ink.paint(tone, text) + ' '.repeat(Math.max(width - text.length, 0));
}

function joined(parts: readonly string[]): string {
  return parts.join(GAP).trimEnd();
}

function withRemarks(line: string, { note, surprises }: Row, ink: Ink): string {
  const indent = ' '.repeat(INDENT);
  return [
    line,
    ...(note === undefined ? [] : [indent + ink.paint('faint', note)]),
    ...surprises.map((text) => indent + ink.paint('bad', `not as told: ${text}`)),
  ].join('\n');
}
