import type { Entry, Ledger } from './ledger.js';

export type CountText = (text: string) => number;

/** Steps that an entry of more worth outlives one of less. */
const STEPS_PER_WORTH = 60;
const MOST_ROUNDS = 6;

/** One line a source: `get_order(order_id=#W1): status delivered; item_id 1008292230, 9523456873`. */
export function ledgerText(ledger: Ledger): string {
  const lines = ledger.sources.map((source, index) => {
    const entries = ledger.entries.filter((entry) => entry.source === index);
    const told = entries.filter(({ text }) => !source.includes(text));
    return told.length === 0 ? (entries.length === 0 ? '' : `- ${source}`) : `- ${source}: ${listed(told)}`;
  });
  return lines.filter(Boolean).join('\n');
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
  const costs = ledger.entries.map(({ text, key }) => count(text) + (key === '' ? 0 : 1) + 1);
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

function rankOf({ seen, worth }: Entry): number {
  return seen + worth * STEPS_PER_WORTH;
}

/** Neighbours of one key share its name. */
function listed(entries: readonly Entry[]): string {
  let text = '';
  let lastKey = '';
  for (const { key, text: value } of entries) {
    if (text === '') text = key === '' ? value : `${key} ${value}`;
    else if (key === lastKey) text += `, ${value}`;
    else text += key === '' ? `; ${value}` : `; ${key} ${value}`;
    lastKey = key;
  }
  return text;
}
