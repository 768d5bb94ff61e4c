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

const keptRequests = 1000;
const keptCharacters = 128 * 1024 * 1024;

/** What arrived, oldest first; the newest thousand, and no more than 128 Mi characters of bodies. */
export class RequestLog {
  private requests: ReceivedRequest[] = [];
  private characters = 0;

  add(method: string, path: string, rawHeaders: readonly string[], body: Buffer): void {
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
    }
    const text = body.toString('utf8');
    this.requests.push({ method, path, headers, rawHeaders: [...rawHeaders], body: text });
    this.characters += text.length;
    while (this.isOverfull()) this.characters -= this.requests.shift()?.body.length ?? 0;
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
