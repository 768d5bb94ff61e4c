import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** The client went away: nobody is left to answer. */
export class ClientGone extends Error {}

/** One request being answered. */
export class Call {
  readonly path: string;
  private readonly gone = new AbortController();
  private unpaused = 0;

  constructor(
    readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    readonly body: Buffer,
  ) {
    this.path = (request.url ?? '/').split('?')[0] ?? '/';
    response.once('close', () => {
      if (!response.writableFinished) this.gone.abort();
    });
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** @throws ClientGone */
  async pause(milliseconds: number): Promise<void> {
    this.checkPresent();
    if (milliseconds <= 0) return this.letOthersRun();
    await sleep(milliseconds, undefined, { signal: this.gone.signal }).catch(() => this.checkPresent());
  }

  // A fast generation must not keep the process from noticing that its client left.
  private async letOthersRun(): Promise<void> {
    this.unpaused += 1;
    if (this.unpaused % 64 === 0) await setImmediate();
    this.checkPresent();
  }

  /** Never answers; ends when the client goes. @throws ClientGone */
  async hang(): Promise<never> {
    this.checkPresent();
    await once(this.gone.signal, 'abort');
    throw new ClientGone();
  }

  /** A whole answer. */
  respond(
    status: number,
    body: string,
    contentType = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const bytes = Buffer.from(body);
    this.head(status, { 'content-length': String(bytes.length), 'content-type': contentType, ...headers });
    this.response.end(bytes);
  }

  /** 200 and nothing else. */
  empty(): void {
    this.head(200, { 'content-length': '0' });
    this.response.end();
  }

  json(value: unknown): void {
    this.respond(200, JSON.stringify(value));
  }

  beginEvents(): void {
    this.head(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.response.flushHeaders();
  }

  /** Writes one event, no faster than the client reads. @throws ClientGone */
  async event(data: string): Promise<void> {
    this.checkPresent();
    if (this.response.write(`data: ${data}\n\n`)) return;
    await once(this.response, 'drain', { signal: this.gone.signal }).catch(() => this.checkPresent());
  }

  end(): void {
    this.response.end();
  }

  /** Breaks the connection; of a body that was to be sent, half goes out before. */
  cut(body?: string): void {
    if (body !== undefined) {
      const bytes = Buffer.from(body);
      this.head(200, { 'content-length': String(bytes.length), 'content-type': 'application/json' });
      this.response.write(bytes.subarray(0, bytes.length >> 1));
    }
    this.response.socket?.destroySoon();
  }

  get started(): boolean {
    return this.response.headersSent;
  }

  private head(status: number, headers: Record<string, string>): void {
    this.response.writeHead(status, { server: 'uvicorn', ...headers, vary: 'Origin' });
  }

  private checkPresent(): void {
    if (this.gone.signal.aborted) throw new ClientGone();
  }
}
