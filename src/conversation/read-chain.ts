import { hash } from 'node:crypto';
import { JsonScanner } from '../body/json-scanner.js';
import type { RawObject } from '../body/raw-object.js';
import type { Span } from '../body/span.js';
import { contentHash, isFields } from './canonical.js';

const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

export interface ChainMessage {
  /** In the bytes of the request. */
  readonly span: Span;
  /** `undefined`: it has none that is a text. */
  readonly role: string | undefined;
  /** The hash m of the message alone. */
  readonly content: string;
  /** The hash h of the message in its place. */
  readonly hash: string;
}

/** A request's messages and who they are. Of several `messages` members the last counts. */
export interface Chain {
  /** The leading run of system and developer messages. It is no part of the chain. */
  readonly headRows: readonly Span[];
  /** All that follow. */
  readonly messages: readonly ChainMessage[];
}

export const EMPTY_CHAIN: Chain = { headRows: [], messages: [] };

/** Stands before the first message: 32 bytes in base64url, as every h. */
export function chainRoot(tenant: string): string {
  return hash('sha256', `incontext chain\n${tenant}`, 'base64url');
}

/** h_i. Both hashes are of one length: no other pair reads the same. */
export function chainHash(parent: string, content: string): string {
  return hash('sha256', parent + content, 'base64url');
}

/** The elements of an array from some offset on. */
export class ElementScan {
  readonly #scanner: JsonScanner;

  private constructor(
    private readonly bytes: Buffer,
    /** The first byte of the next element, or the closing bracket. */
    private at: number,
    scanner: JsonScanner,
  ) {
    this.#scanner = scanner;
  }

  /** `undefined`: there is no array at `start`. */
  static of(bytes: Buffer, start: number): ElementScan | undefined {
    if (bytes[start] !== OPEN_ARRAY) return undefined;
    const scanner = new JsonScanner(bytes);
    return new ElementScan(bytes, scanner.afterSpace(start + 1), scanner);
  }

  /** The first byte of the next element, or the closing bracket. */
  get next(): number {
    return this.at;
  }

  /** Goes on behind an element that ends there. */
  skipTo(end: number): void {
    const after = this.#scanner.afterSpace(end);
    this.at = this.bytes[after] === COMMA ? this.#scanner.afterSpace(after + 1) : after;
  }

  /** The next element, which stays the next one. */
  peek(): Span | undefined {
    if (this.at >= this.bytes.length || this.bytes[this.at] === CLOSE_ARRAY) return undefined;
    const end = this.#scanner.endOfValue(this.at);
    return end < 0 ? undefined : { start: this.at, end };
  }
}

export function parseSpan(bytes: Buffer, span: Span): unknown {
  return JSON.parse(bytes.toString('utf8', span.start, span.end));
}

/** Reads what is left of a chain, behind the messages that are known already. */
export function readMessages(
  bytes: Buffer,
  scan: ElementScan,
  root: string,
  known: readonly ChainMessage[],
): ChainMessage[] {
  const messages = known.slice();
  let parent = messages.at(-1)?.hash ?? root;
  for (let span = scan.peek(); span !== undefined; span = scan.peek()) {
    const message = parseSpan(bytes, span);
    const content = contentHash(message);
    parent = chainHash(parent, content);
    messages.push({ span, role: roleOf(message), content, hash: parent });
    scan.skipTo(span.end);
  }
  return messages;
}

/** Reads the head, and stops before the first message that is none of it. */
export function readHead(bytes: Buffer, scan: ElementScan): Span[] {
  const head: Span[] = [];
  for (let span = scan.peek(); span !== undefined; span = scan.peek()) {
    if (bytes[span.end - 1] !== CLOSE_OBJECT) break;
    const role = roleOf(parseSpan(bytes, span));
    if (role !== 'system' && role !== 'developer') break;
    head.push(span);
    scan.skipTo(span.end);
  }
  return head;
}

function roleOf(message: unknown): string | undefined {
  const role = isFields(message) ? message.role : undefined;
  return typeof role === 'string' ? role : undefined;
}

/** Where the request's messages begin; `undefined`: there is no such member. */
export function messagesStart(request: RawObject): number | undefined {
  return request.member('messages')?.value.start;
}
