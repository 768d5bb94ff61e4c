/** The one of `known` that `word` most likely means; `undefined` where none is close. Ignores case. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** `did you mean X?`, or what there is to choose from. */
export function suggestion(word: string, known: readonly string[]): string {
  const close = nearest(word, known);
  return close === undefined ? `known are ${known.join(', ')}` : `did you mean ${close}?`;
}

/** The least number of insertions, deletions and substitutions between two words. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const substituted = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
