import type { Chain } from './chain.js';

const SHORTEST_RUN = 2;
const LONGEST_RUN = 8;
/** From this length on a message is hardly anybody else's. */
const LONG_BYTES = 200;

/**
 * Contents to look for where none of a request's path is known: its client may have dropped the head of a known
 * conversation. They follow each other in the request, and are old enough to be known. None: too little to go by.
 * @param skip how many messages stand before them: a client that drops its head may put a summary in its place.
 */
export function runCandidate({ messages }: Chain, skip = 0): string[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  // What came with or after the last answer is new, unless the client repeats a request that failed.
  const end = answer - skip < SHORTEST_RUN ? messages.length : answer;
  const run = messages.slice(skip, Math.min(skip + LONGEST_RUN, end));
  if (run.length < SHORTEST_RUN) return [];
  const hasLong = run.some(({ span }) => span.end - span.start >= LONG_BYTES);
  const hasUser = run.some(({ role }) => role === 'user');
  // Behind a beginning that is unknown two short messages are anybody's.
  const isTelling = hasLong || (hasUser && (skip === 0 || run.length > SHORTEST_RUN));
  return isTelling ? run.map(({ content }) => content) : [];
}
