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
}

const kept = 1000;

/** What arrived, oldest first; the newest thousand. */
export class RequestLog {
  private requests: ReceivedRequest[] = [];

  add(method: string, path: string, rawHeaders: readonly string[], body: Buffer): void {
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
    }
    this.requests.push({ method, path, headers, rawHeaders: [...rawHeaders], body: body.toString('utf8') });
    if (this.requests.length > kept) this.requests.shift();
  }

  list(): readonly ReceivedRequest[] {
    return this.requests;
  }

  clear(): void {
    this.requests = [];
  }
}
