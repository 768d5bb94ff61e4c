import { barCells } from './bar.js';
import type { Ink, Tone } from './ink.js';
import type { Caps, Row } from './row.js';

/** A text of one tone. */
export interface Span {
  readonly tone: Tone;
  readonly text: string;
}

const COUNT_DIGITS = 4;
const NOT_COUNTED = 'not counted';

/** The columns of a row, unpadded. */
export interface RowCells {
  readonly asks: Span;
  readonly action: Span;
  readonly reason: Span;
  readonly count: Span;
  readonly cap: Span;
  readonly status: Span;
  readonly direct: Span;
}

export function rowCells(row: Row, { arrow }: Pick<Ink, 'arrow'>): RowCells {
  const { action, reason, source, promptTokens } = row.told;
  const count = (promptTokens === undefined ? '-' : String(promptTokens)).padStart(COUNT_DIGITS);
  return {
    asks: { tone: 'strong', text: row.asks },
    action: {
      tone: action === 'clamped' || action === 'compressed' ? 'acted' : 'plain',
      text: action ?? '-',
    },
    reason: { tone: 'plain', text: reason ?? '-' },
    count: { tone: source === 'rough-fallback' ? 'warning' : 'plain', text: `${count} ${source ?? '-'}` },
    cap: { tone: 'plain', text: capText(row.caps, row.told.maxTokens, arrow) },
    status: statusSpan(row.status),
    direct: statusSpan(row.directStatus),
  };
}

/** `4096 -> 3350`; one value where it stayed as it was. */
export function capText(caps: Caps, after: number | undefined, arrow: string): string {
  const asked = Object.values(caps);
  const before = asked.length === 0 ? 'none' : asked.join(', ');
  return after === undefined || before === String(after) ? before : `${before} ${arrow} ${after}`;
}

function statusSpan(status: number | undefined): Span {
  if (status === undefined) return { tone: 'bad', text: 'none' };
  return { tone: status < 400 ? 'good' : 'bad', text: String(status) };
}

/** A row's window, `width` cells wide and painted; words where nothing was counted. */
export function barOf({ told }: Row, width: number, { cells, paint }: Ink): string {
  const { window, promptTokens } = told;
  if (window === undefined || promptTokens === undefined)
    return paint('faint', NOT_COUNTED) + ' '.repeat(width - NOT_COUNTED.length);
  const bar = barCells({ window, prompt: promptTokens, answer: told.maxTokens ?? 0 }, width);
  return (
    paint('prompt', cells.prompt.repeat(bar.prompt)) +
    paint('answer', cells.answer.repeat(bar.answer)) +
    paint('faint', cells.free.repeat(bar.free))
  );
}
