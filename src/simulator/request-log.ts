import { isUtf8 } from 'node:buffer';

/** A request as it came. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names lower-cased; of repeated names the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as on the wire. */
  readonly rawHeaders: readonly string[];
  /** The body's text; bytes that are no UTF-8 as U+FFFD. */
  readonly body: string;
  /** The body's bytes, where they are no UTF-8. */
  readonly body_base64?: string;
  /** How the answer ended, whoever ended it; absent while it is open. */
  readonly outcome?: 'complete' | 'aborted';
  /** From the request's head to the end of its answer. */
  readonly ms?: number;
}

const keptRequests = 1000;
const keptCharacters = 128 * 1024 * 1024;

/** What arrived, oldest first; the newest thousand, and no more than 128 Mi characters of bodies. */
export class RequestLog {
  private requests: ReceivedRequest[] = [];
  private characters = 0;

  /** @returns what notes the end of its answer. */
  add(
    method: string,
    path: string,
    rawHeaders: readonly string[],
    body: Buffer,
  ): (outcome: 'complete' | 'aborted', ms: number) => void {
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
    }
    const entry: { -readonly [Name in keyof ReceivedRequest]: ReceivedRequest[Name] } = {
      method,
      path,
      headers,
      rawHeaders: [...rawHeaders],
      body: body.toString('utf8'),
      ...(isUtf8(body) ? {} : { body_base64: body.toString('base64') }),
    };
    this.requests.push(entry);
    this.characters += size(entry);
    while (this.isOverfull()) this.characters -= size(this.requests.shift());
    return (outcome, ms) => {
      entry.outcome = outcome;
      entry.ms = ms;
    };
  }

  list(): readonly ReceivedRequest[] {
    return this.requests;
  }

  clear(): void {
    this.requests = [];
    this.characters = 0;
  }

  private isOverfull(): boolean {
    const { length } = this.requests;
    return length > keptRequests || (length > 1 && this.characters > keptCharacters);
  }
}

function size(entry: ReceivedRequest | undefined): number {
  return (entry?.body.length ?? 0) + (entry?.body_base64?.length ?? 0);
}
