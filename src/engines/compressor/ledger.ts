import type { Fact } from './record-facts.js';

/** A fact that must outlive every summary, spelled as it stood. */
export interface Entry {
  readonly text: string;
  readonly key: string;
  /** The few words that it was said in; empty where its key tells enough. */
  readonly about: string;
  /** Index into `sources`. */
  readonly source: number;
  readonly worth: number;
  /** The step of the conversation that named it last. */
  readonly seen: number;
}

export interface Ledger {
  /** Where facts come from, such as `get_order(order_id=#W1)`, in the order of their first one. */
  readonly sources: readonly string[];
  readonly entries: readonly Entry[];
  /** Messages taken in so far: the clock of `seen`. */
  readonly steps: number;
}

export const EMPTY_LEDGER: Ledger = { sources: [], entries: [], steps: 0 };

export interface SourcedFacts {
  readonly source: string;
  readonly facts: readonly SourcedFact[];
}

/** Worth by who said it, too: see `worthOf`. */
export interface SourcedFact extends Omit<Fact, 'worth'> {
  readonly worth: number;
}

/** Takes in what further messages say, one element a message. A fact that is known gets fresh instead of double. */
export function addToLedger(ledger: Ledger, messages: readonly SourcedFacts[]): Ledger {
  const sources = [...ledger.sources];
  const indices = new Map(sources.map((source, index) => [source, index]));
  const entries = new Map(ledger.entries.map((entry) => [identity(entry, ledger.sources), entry]));
  let steps = ledger.steps;
  for (const { source, facts } of messages) {
    steps += 1;
    const index = indices.get(source) ?? sources.push(source) - 1;
    indices.set(source, index);
    supersede(entries, index, facts);
    for (const fact of facts) {
      const { text, key, worth, about = '' } = fact;
      const fresh = { text, key, about, worth, source: index, seen: steps };
      const id = identity(fresh, sources);
      const known = entries.get(id);
      entries.set(id, known === undefined ? fresh : { ...known, seen: steps, ...better(known, fresh) });
    }
  }
  return compacted({ sources, entries: [...entries.values()], steps });
}

/** What a person says of a thing tells more than where a tool showed it. */
function better(known: Entry, fresh: Entry): Partial<Entry> {
  if (fresh.worth <= known.worth) return {};
  return { worth: fresh.worth, about: fresh.about, source: fresh.source };
}

/** Marks what later messages name again as fresh. */
export function touchLedger(ledger: Ledger, text: string): Ledger {
  const entries = ledger.entries.map((entry) =>
    entry.worth >= 1 && entry.seen < ledger.steps && text.includes(entry.text)
      ? { ...entry, seen: ledger.steps }
      : entry,
  );
  return { ...ledger, entries };
}

/** What `next` holds that `before` does not. */
export function addedTo(before: Ledger, next: Ledger): Ledger {
  const known = new Set(before.entries.map((entry) => identity(entry, before.sources)));
  const entries = next.entries.filter((entry) => !known.has(identity(entry, next.sources)));
  return compacted({ ...next, entries });
}

/** What was named after a step and is not among the words of a text. */
export function namedSince(ledger: Ledger, step: number, shown: string): Ledger {
  return compacted({
    ...ledger,
    entries: ledger.entries.filter(({ seen, text }) => seen > step && !shown.includes(text)),
  });
}

/** Both together; of what both hold, the second's. */
export function mergeLedgers(first: Ledger, second: Ledger): Ledger {
  const sources = [...first.sources];
  const indices = new Map(sources.map((source, index) => [source, index]));
  const entries = new Map(first.entries.map((entry) => [identity(entry, sources), entry]));
  for (const entry of second.entries) {
    const source = second.sources[entry.source] ?? '';
    const index = indices.get(source) ?? sources.push(source) - 1;
    indices.set(source, index);
    entries.set(identity(entry, second.sources), { ...entry, source: index });
  }
  const steps = Math.max(first.steps, second.steps);
  return compacted({ sources, entries: [...entries.values()], steps });
}

/** What names one thing is the same wherever it was said; a describing word belongs to its source. */
function identity(
  entry: Pick<Entry, 'text' | 'key' | 'worth' | 'source'>,
  sources: readonly string[],
): string {
  return entry.worth >= 1 ? entry.text : `${sources[entry.source]}\n${entry.key}\n${entry.text}`;
}

/** A record that is read again replaces what it said of itself before: a status that has changed is no fact any more. */
function supersede(entries: Map<string, Entry>, source: number, facts: readonly SourcedFact[]): void {
  const keys = new Set(facts.filter(({ key, worth }) => key !== '' && worth === 0).map(({ key }) => key));
  if (keys.size === 0) return;
  for (const [id, entry] of entries) {
    if (entry.source === source && entry.worth === 0 && keys.has(entry.key)) entries.delete(id);
  }
}

export function compacted({ sources, entries, steps }: Ledger): Ledger {
  const used = new Set(entries.map(({ source }) => source));
  const places = new Map<number, number>();
  for (const index of sources.keys()) if (used.has(index)) places.set(index, places.size);
  return {
    sources: sources.filter((_, index) => used.has(index)),
    entries: entries.map((entry) => ({ ...entry, source: places.get(entry.source) ?? 0 })),
    steps,
  };
}
