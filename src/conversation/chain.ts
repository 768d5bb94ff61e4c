import type { RawObject } from '../body/raw-object.js';
import type { Span } from '../body/span.js';
import {
  type Chain,
  type ChainMessage,
  chainRoot,
  ElementScan,
  EMPTY_CHAIN,
  messagesStart,
  readHead,
  readMessages,
} from './read-chain.js';

export type { Chain, ChainMessage } from './read-chain.js';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_BODIES = 64;
/** Below this length reading on costs as much as reading anew. */
const SHORTEST_BYTES = 2048;
const CLOSING: ReadonlySet<number | undefined> = new Set([0x7d, 0x5d, 0x22]);

/** A request that was read, and where in its bytes. */
interface Reading {
  readonly tenant: string;
  readonly bytes: Buffer;
  readonly chain: Chain;
  /** The array's bracket. */
  readonly start: number;
  /** The first byte behind the head. */
  readonly body: number;
}

interface Shared {
  readonly reading: Reading;
  readonly count: number;
}

/**
 * Reads the chains of requests. What a request repeats of a recent one of its tenant is not read again: the messages
 * up to the first that differs, and the head, wherever both stand in the bytes. Recent bodies stay in memory by
 * reference, at most 8 MiB and 64 of them.
 */
export class ChainReader {
  /** The most recent one last. */
  readonly #recent: Reading[] = [];
  #bytes = 0;

  /** Length of the bodies in memory. */
  get bytesKept(): number {
    return this.#bytes;
  }

  read(tenant: string, request: RawObject): Chain {
    const { bytes } = request;
    const start = messagesStart(request);
    const scan = start === undefined ? undefined : ElementScan.of(bytes, start);
    if (start === undefined || scan === undefined) return EMPTY_CHAIN;
    const recent = this.#recent.filter((reading) => reading.tenant === tenant);
    const headRows = this.#head(bytes, start, scan, recent);
    const body = scan.next;
    const shared = longestShared(recent, bytes, body);
    const known = shared ? shift(shared, body) : [];
    if (known.length > 0) scan.skipTo((known.at(-1) as ChainMessage).span.end);
    const messages = readMessages(bytes, scan, chainRoot(tenant), known);
    const chain = { headRows, messages };
    this.#remember({ tenant, bytes, chain, start, body }, shared);
    return chain;
  }

  #head(bytes: Buffer, start: number, scan: ElementScan, recent: readonly Reading[]): readonly Span[] {
    const same = recent.findLast((reading) => {
      const length = endAt(reading, 1) - reading.start;
      return equal(reading.bytes, reading.start, bytes, start, length);
    });
    if (same === undefined) return readHead(bytes, scan);
    const by = start - same.start;
    const rows = same.chain.headRows;
    const last = rows.at(-1);
    if (last) scan.skipTo(last.end + by);
    return by === 0 ? rows : rows.map((span) => moved(span, by));
  }

  /** A request takes the place of the one that it grew from. */
  #remember(reading: Reading, shared: Shared | undefined): void {
    if (reading.bytes.length > MOST_BYTES || reading.bytes.length < SHORTEST_BYTES) return;
    if (reading.chain.messages.length === 0) return;
    if (shared && shared.count === shared.reading.chain.messages.length) {
      this.#forget(this.#recent.indexOf(shared.reading));
    }
    this.#recent.push(reading);
    this.#bytes += reading.bytes.length;
    while (this.#bytes > MOST_BYTES || this.#recent.length > MOST_BODIES) this.#forget(0);
  }

  #forget(index: number): void {
    const [gone] = this.#recent.splice(index, 1);
    this.#bytes -= gone?.bytes.length ?? 0;
  }
}

function longestShared(recent: readonly Reading[], bytes: Buffer, body: number): Shared | undefined {
  let longest: Shared | undefined;
  for (let i = recent.length - 1; i >= 0; i -= 1) {
    const reading = recent[i] as Reading;
    const count = sharedCount(reading, bytes, body, longest?.count ?? 0);
    if (count > (longest?.count ?? 0)) longest = { reading, count };
  }
  return longest;
}

/** How many messages stand in both. Looks closer only where they are more than `atLeast`. */
function sharedCount(reading: Reading, bytes: Buffer, body: number, atLeast: number): number {
  const { messages } = reading.chain;
  const shares = (count: number): boolean =>
    equal(reading.bytes, reading.body, bytes, body, endAt(reading, count) - reading.body);
  if (messages.length <= atLeast || !shares(atLeast + 1)) return atLeast;
  if (shares(messages.length)) return messages.length;
  let some = atLeast + 1;
  let tooMany = messages.length;
  while (tooMany - some > 1) {
    const middle = (some + tooMany) >>> 1;
    if (shares(middle)) some = middle;
    else tooMany = middle;
  }
  return some;
}

/** Where the bytes end that make out the first messages, so many of them. */
function endAt(reading: Reading, count: number): number {
  const { end } = (reading.chain.messages[count - 1] as ChainMessage).span;
  // What ends without a bracket or a quote ends with the byte behind it.
  return CLOSING.has(reading.bytes[end - 1]) ? end : end + 1;
}

function equal(a: Buffer, aStart: number, b: Buffer, bStart: number, length: number): boolean {
  if (length > b.length - bStart) return false;
  return a.compare(b, bStart, bStart + length, aStart, aStart + length) === 0;
}

/** The shared messages, where they stand in a request whose first message begins at `body`. */
function shift({ reading, count }: Shared, body: number): readonly ChainMessage[] {
  const messages = reading.chain.messages.slice(0, count);
  const by = body - reading.body;
  if (by === 0) return messages;
  return messages.map((message) => ({ ...message, span: moved(message.span, by) }));
}

function moved({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}
