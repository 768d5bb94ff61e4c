import { worthOfValue } from './identifiers.js';
import { compacted, type Entry, type Ledger } from './ledger.js';
import { boundLedger, type CountText, ledgerText, rankOf } from './ledger-text.js';
import { NAMING, SAID } from './said-facts.js';

const EARLIER = 'earlier records, in this order';
/** What does not name one thing may take of the list. */
const MINOR_SHARE = 0.2;
const SAID_SHARE = 0.3;
/** Of the sources, the oldest so many lose their names where room is short. */
const EARLIER_SHARES = [0.5, 0.75, 1];
/** What the engine remembers beyond what it shows. */
const MOST_REMEMBERED = 800;

/** What is to be read of a ledger beside a text, in at most so many tokens. */
export function shownLedger(ledger: Ledger, beside: string, mostTokens: number, count: CountText): Ledger {
  const unsaid = ledger.entries.filter(({ text, worth }) => worth > 0 && !beside.includes(text));
  const said = boundLedger(
    only(ledger, unsaid, ({ worth }) => worth >= SAID),
    Math.floor(mostTokens * SAID_SHARE),
    count,
  );
  const ids = only(ledger, bareBeyond(said, unsaid), ({ worth }) => worth >= NAMING && worth < SAID);
  const naming = joined(said, fitted(ids, mostTokens - count(ledgerText(said)), count));
  const isNamed = new Set(naming.entries.map(({ text }) => text));
  const rest = only(ledger, unsaid, ({ worth, text }) => worth >= SAID && !isNamed.has(text));
  const all = joined(naming, boundLedger(rest, mostTokens - count(ledgerText(naming)), count));
  const minor = only(ledger, unsaid, ({ worth }) => worth < NAMING);
  const most = Math.min(mostTokens - count(ledgerText(all)), mostTokens * MINOR_SHARE);
  return joined(all, boundLedger(minor, Math.floor(most), count));
}

/** How much of what people said a shown ledger has, in words or without: 1 where they said nothing. */
export function saidShare(ledger: Ledger, shown: Ledger): number {
  const texts = new Set(shown.entries.map(({ text }) => text));
  const said = ledger.entries.filter(({ worth }) => worth >= SAID);
  return said.length === 0 ? 1 : said.filter(({ text }) => texts.has(text)).length / said.length;
}

/** What was said and has no room in its words: where it names one thing, it does so without them. */
function bareBeyond(said: Ledger, unsaid: readonly Entry[]): readonly Entry[] {
  const inWords = new Set(said.entries.map(({ text }) => text));
  return unsaid.map((entry) =>
    entry.worth >= SAID && !inWords.has(entry.text) && isNamedBare(entry.text)
      ? { ...entry, about: '', worth: NAMING }
      : entry,
  );
}

/** Ids, paths and other spellings in one piece; an amount or a day tells nothing by itself. */
function isNamedBare(text: string): boolean {
  const worth = worthOfValue(text);
  return worth === 3 || (worth === 2 && /^\S*[A-Za-z]\S*$/.test(text));
}

/** What people said exactly, in their words. */
export function saidLedger(ledger: Ledger, beside: string, mostTokens: number, count: CountText): Ledger {
  const said = only(ledger, ledger.entries, ({ worth, text }) => worth >= SAID && !beside.includes(text));
  return boundLedger(said, mostTokens, count);
}

/** A ledger of a bounded number of entries: what is worth least is forgotten first. */
export function remembered(ledger: Ledger): Ledger {
  if (ledger.entries.length <= MOST_REMEMBERED) return ledger;
  const ranks = ledger.entries.map(rankOf).sort((a, b) => b - a);
  const least = ranks[MOST_REMEMBERED - 1] ?? 0;
  return compacted({ ...ledger, entries: ledger.entries.filter((entry) => rankOf(entry) >= least) });
}

function only(ledger: Ledger, entries: readonly Entry[], isWanted: (entry: Entry) => boolean): Ledger {
  return compacted({ ...ledger, entries: entries.filter(isWanted) });
}

/** Where names of sources have to give way, the order still tells what belongs together. */
function fitted(ledger: Ledger, mostTokens: number, count: CountText): Ledger {
  if (count(ledgerText(ledger)) <= mostTokens) return ledger;
  let bare = ledger;
  for (const share of EARLIER_SHARES) {
    bare = withoutSources(ledger, share);
    if (count(ledgerText(bare)) <= mostTokens) return bare;
  }
  return boundLedger(bare, mostTokens, count);
}

function withoutSources(ledger: Ledger, share: number): Ledger {
  const newest = ledger.sources.map(() => 0);
  const isSaid = ledger.sources.map(() => false);
  for (const { source, seen, about } of ledger.entries) {
    newest[source] = Math.max(newest[source] ?? 0, seen);
    if (about !== '') isSaid[source] = true;
  }
  const order = [...ledger.sources.keys()].filter((source) => isSaid[source] !== true);
  order.sort((a, b) => (newest[a] ?? 0) - (newest[b] ?? 0));
  const old = new Set(order.slice(0, Math.ceil(order.length * share)));
  const entries = ledger.entries.map((entry) =>
    old.has(entry.source) ? { ...entry, source: -1, key: '' } : entry,
  );
  const sources = [EARLIER, ...ledger.sources];
  return compacted({
    ...ledger,
    sources,
    entries: entries.map((entry) => ({ ...entry, source: entry.source + 1 })),
  });
}

function joined(first: Ledger, second: Ledger): Ledger {
  const sources = [...first.sources];
  const entries = second.entries.map((entry) => {
    const name = second.sources[entry.source] ?? '';
    const at = sources.indexOf(name);
    return { ...entry, source: at < 0 ? sources.push(name) - 1 : at };
  });
  return compacted({ ...first, sources, entries: [...first.entries, ...entries] });
}
