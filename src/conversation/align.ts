import type { NodeRecord } from '../store/conversation-store.js';
import { foldedCount } from './fold.js';

/** A message of a request that is not known in its place. */
export interface NewMessage {
  readonly content: string;
  readonly message: unknown;
}

export interface Alignment {
  /** By the places of the new messages: the known ones that they stand for, more than one where they were folded. */
  readonly stoodFor: readonly (readonly NodeRecord[] | undefined)[];
  /** How many of them say the same as before. */
  readonly matches: number;
}

export const NO_ALIGNMENT: Alignment = { stoodFor: [], matches: 0 };

/** How many messages a client puts in the place of others, at most. */
const LONGEST_CHANGE = 8;

/** Holds new messages against what is known to follow in their place: the branch that they repeat most of. */
export function align(
  messages: readonly NewMessage[],
  others: readonly NodeRecord[],
  parent?: string,
): Alignment {
  let best = NO_ALIGNMENT;
  for (const branch of branches(others, parent)) {
    const alignment = alignBranch(messages, branch);
    if (alignment.matches > best.matches) best = alignment;
  }
  return best;
}

/** The ways from below `parent` to the ends, in the order of the nodes. */
function branches(others: readonly NodeRecord[], parent: string | undefined): NodeRecord[][] {
  const children = new Map<string | undefined, NodeRecord[]>();
  for (const node of others) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const found: NodeRecord[][] = [];
  const pending: NodeRecord[][] = (children.get(parent) ?? []).map((node) => [node]).reverse();
  for (let way = pending.pop(); way !== undefined; way = pending.pop()) {
    const below = children.get(way.at(-1)?.hash) ?? [];
    if (below.length === 0) found.push(way);
    const longer = way;
    pending.push(...below.map((node) => [...longer, node]).reverse());
  }
  return found;
}

function alignBranch(messages: readonly NewMessage[], branch: readonly NodeRecord[]): Alignment {
  const stoodFor: (readonly NodeRecord[])[] = [];
  let matches = 0;
  let at = 0;
  let old = 0;
  while (at < messages.length && old < branch.length) {
    const same = repeats(messages, at, branch, old) ? 1 : folds(messages[at], branch, old);
    if (same > 0) {
      stoodFor[at] = branch.slice(old, old + same);
      matches += 1;
      at += 1;
      old += same;
      continue;
    }
    const change = nearestRun(messages, at, branch, old);
    if (change === undefined) break;
    const { added, gone } = change;
    // As many as before: each was edited. Otherwise nobody knows which became of which.
    if (added === gone)
      for (let i = 0; i < gone; i += 1) stoodFor[at + i] = branch.slice(old + i, old + i + 1);
    at += added;
    old += gone;
  }
  return { stoodFor, matches };
}

/** The smallest change behind which both go on alike, long enough to be no accident. */
function nearestRun(
  messages: readonly NewMessage[],
  at: number,
  branch: readonly NodeRecord[],
  old: number,
): { readonly added: number; readonly gone: number } | undefined {
  for (let size = 1; size < LONGEST_CHANGE + branch.length - old; size += 1) {
    for (let added = Math.min(size, LONGEST_CHANGE); added >= 0; added -= 1) {
      const gone = size - added;
      const needed = added === gone ? added : 2;
      let run = 0;
      while (run < needed && repeats(messages, at + added + run, branch, old + gone + run)) run += 1;
      if (run === needed) return { added, gone };
    }
  }
  return undefined;
}

function repeats(
  messages: readonly NewMessage[],
  at: number,
  branch: readonly NodeRecord[],
  old: number,
): boolean {
  const content = messages[at]?.content;
  return content !== undefined && content === branch[old]?.content;
}

function folds(message: NewMessage | undefined, branch: readonly NodeRecord[], old: number): number {
  return foldedCount(
    message?.message,
    branch.slice(old, old + LONGEST_CHANGE).map(({ content }) => content),
  );
}
