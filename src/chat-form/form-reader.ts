import type { RawObject } from '../body/raw-object.js';
import { ElementScan } from '../conversation/read-chain.js';
import { sameJson } from '../conversation/same-json.js';
import type { ChatForm, Dialect, Group, ListElement } from './chat-form.js';
import { mappedForm, type ReadBody } from './mapped-form.js';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_LISTS = 64;

interface Known {
  readonly dialect: Dialect;
  readonly groups: readonly Group[];
  readonly bytes: number;
}

/**
 * Reads requests of other endpoints as chats. A request has a chat form only where the way there and back loses nothing
 * of it. What a request repeats of a recent one is not read again: recent lists stay in memory by reference, at most
 * 8 MiB and 64 of them.
 */
export class FormReader {
  /** The most recent one last. */
  readonly #recent: Known[] = [];
  #bytes = 0;

  /** `undefined`: some of the request would be lost. */
  read(request: RawObject, dialect: Dialect, read: ReadBody): ChatForm | undefined {
    const start = request.member(dialect.list)?.value.start;
    const scan = start === undefined ? undefined : ElementScan.of(request.bytes, start);
    if (scan === undefined || !isText(request, dialect)) return undefined;
    const known = this.#longest(request.bytes, dialect, start as number);
    const kept = known === undefined ? [] : sharedGroups(known, request.bytes, start as number);
    for (const { original } of kept) scan.skipTo(scan.next + original.length);
    const fresh = dialect.read(elementsFrom(request.bytes, scan), request.bytes);
    if (fresh === undefined || !fresh.every((group) => isLossless(group, dialect))) return undefined;
    const groups = [...kept, ...fresh];
    this.#remember({ dialect, groups, bytes: request.bytes.length }, known);
    return mappedForm(request, dialect, groups, read);
  }

  #longest(bytes: Buffer, dialect: Dialect, start: number): Known | undefined {
    let longest: Known | undefined;
    let most = 0;
    for (const known of this.#recent) {
      const shared = known.dialect === dialect ? sharedGroups(known, bytes, start).length : 0;
      if (shared <= most) continue;
      most = shared;
      longest = known;
    }
    return longest;
  }

  /** A list takes the place of the one that it grew from. */
  #remember(known: Known, grewFrom: Known | undefined): void {
    if (known.bytes > MOST_BYTES) return;
    if (grewFrom !== undefined) this.#forget(this.#recent.indexOf(grewFrom));
    this.#recent.push(known);
    this.#bytes += known.bytes;
    while (this.#bytes > MOST_BYTES || this.#recent.length > MOST_LISTS) this.#forget(0);
  }

  #forget(index: number): void {
    const [gone] = this.#recent.splice(index, 1);
    this.#bytes -= gone?.bytes ?? 0;
  }
}

/** A head that is a list of blocks is one of texts. */
function isText(request: RawObject, { head }: Dialect): boolean {
  const value = request.value(head);
  if (value === undefined || value === null || typeof value === 'string') return true;
  return Array.isArray(value) && value.every((block) => Object(block).type === 'text');
}

/** Those that a list repeats, but for the last one: it may go on otherwise here, and is read again. */
function sharedGroups({ groups }: Known, bytes: Buffer, start: number): Group[] {
  const shared: Group[] = [];
  const scan = ElementScan.of(bytes, start);
  for (const group of scan === undefined ? [] : groups) {
    const { original } = group;
    const { next } = scan as ElementScan;
    if (!bytes.subarray(next, next + original.length).equals(original)) break;
    shared.push(group);
    scan?.skipTo(next + original.length);
  }
  return shared.slice(0, -1);
}

function elementsFrom(bytes: Buffer, scan: ElementScan): ListElement[] {
  const elements: ListElement[] = [];
  for (let span = scan.peek(); span !== undefined; span = scan.peek()) {
    const own = bytes.subarray(span.start, span.end);
    elements.push({ ...span, bytes: own, value: JSON.parse(own.toString('utf8')) });
    scan.skipTo(span.end);
  }
  return elements;
}

/** True where what is written for the messages says what the client said. */
function isLossless({ messages, original }: Group, dialect: Dialect): boolean {
  const written = dialect.write(messages.map((message) => JSON.parse(message)));
  return sameJson(JSON.parse(`[${written.join(',')}]`), JSON.parse(`[${original.toString('utf8')}]`));
}
