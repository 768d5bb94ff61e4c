import type { Entry, Ledger } from './ledger.js';

export type CountText = (text: string) => number;

/** Steps that an entry of more worth outlives one of less. */
const STEPS_PER_WORTH = 100_000;
const MOST_ROUNDS = 6;

/** One line a source: `get_order(order_id=#W1): status delivered; item_id 1008292230, 9523456873`. */
export function ledgerText(ledger: Ledger): string {
  const bySource = new Map<number, Entry[]>();
  for (const entry of ledger.entries) {
    const entries = bySource.get(entry.source);
    if (entries === undefined) bySource.set(entry.source, [entry]);
    else entries.push(entry);
  }
  const lines = ledger.sources.map((source, index) => lineOf(source, bySource.get(index) ?? []));
  return lines.filter(Boolean).join('\n');
}

function lineOf(source: string, entries: readonly Entry[]): string {
  if (entries.length === 0) return '';
  const said = [...new Set(entries.map(({ about }) => about).filter(Boolean))].join(' ');
  const bare = entries.filter(({ about, text }) => about === '' && !source.includes(text));
  const told = [said, bare.length === 0 ? '' : listed(bare)].filter(Boolean).join(' ');
  return told === '' ? `- ${source}` : `- ${source}: ${told}`;
}

/** The ledger with at most so many tokens: what is worth least and was named longest ago goes first. */
export function boundLedger(ledger: Ledger, mostTokens: number, count: CountText): Ledger {
  let bounded = ledger;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const size = count(ledgerText(bounded));
    if (bounded.entries.length === 0 || size <= mostTokens) return bounded;
    bounded = dropped(bounded, (mostTokens / size) * (round === 0 ? 1 : 0.95), count);
  }
  return { ...bounded, sources: [], entries: [] };
}

function dropped(ledger: Ledger, kept: number, count: CountText): Ledger {
  const costs = ledger.entries.map(
    ({ text, key, about }) => count(about === '' ? text : about) + (key === '' ? 0 : 1) + 1,
  );
  const order = ledger.entries.map((entry, index) => ({ index, rank: rankOf(entry) }));
  order.sort((a, b) => b.rank - a.rank || b.index - a.index);
  let left = costs.reduce((sum, cost) => sum + cost, 0) * kept;
  const staying = new Set<number>();
  for (const { index } of order) {
    left -= costs[index] as number;
    if (left < 0) break;
    staying.add(index);
  }
  const entries = ledger.entries.filter((_, index) => staying.has(index));
  return { ...ledger, entries };
}

export function rankOf({ seen, worth }: Entry): number {
  return seen + worth * STEPS_PER_WORTH;
}

const LONGEST_CYCLE = 6;

/** Neighbours of one key share its name, and so do rows: `product_id/item_id 5334192615/2087873719, 4514946719/8813106465`. */
function listed(entries: readonly Entry[]): string {
  const groups: string[] = [];
  for (let at = 0; at < entries.length; ) {
    const { length, times } = cycleAt(entries, at);
    const keys = entries.slice(at, at + length).map(({ key }) => key);
    const rows = Array.from({ length: times }, (_, row) =>
      entries
        .slice(at + row * length, at + (row + 1) * length)
        .map(({ text }) => text)
        .join('/'),
    );
    const name = keys.join('/');
    groups.push(name === '' ? rows.join(', ') : `${name} ${rows.join(', ')}`);
    at += length * times;
  }
  return groups.join('; ');
}

/** The keys from there on that come back at once, and how often. */
function cycleAt(entries: readonly Entry[], at: number): { readonly length: number; readonly times: number } {
  for (let length = 1; length <= LONGEST_CYCLE; length += 1) {
    if (length > 1 && entries.slice(at, at + length).some(({ key }) => key === '')) break;
    let times = 1;
    while (isRepeated(entries, at, length, times)) times += 1;
    if (times > 1) return { length, times };
  }
  return { length: 1, times: 1 };
}

function isRepeated(entries: readonly Entry[], at: number, length: number, times: number): boolean {
  for (let i = 0; i < length; i += 1) {
    const next = entries[at + times * length + i];
    if (next === undefined || next.key !== entries[at + i]?.key) return false;
  }
  return true;
}
