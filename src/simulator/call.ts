import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** The client went away, or was sent away: nobody is left to answer. */
export class ClientGone extends Error {}

/** An answer in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How the bytes of an answer go out, where that is scripted. */
export interface Delivery {
  /** Further headers, or others. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Events are written in pieces of so many bytes. */
  readonly splitBytes?: number | undefined;
  /** A connection that breaks is reset. */
  readonly resets?: boolean | undefined;
  /** The next request on this connection finds it closed. */
  readonly closesNext?: boolean | undefined;
}

/** Milliseconds. */
const beforeReset = 20;

/** Connections whose next request gets nothing. */
const spent = new WeakSet<Socket>();

/** One request being answered. */
export class Call {
  readonly path: string;
  private readonly gone = new AbortController();
  private unpaused = 0;
  private delivery: Delivery = {};
  private held: Buffer = Buffer.alloc(0);

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

  deliver(delivery: Delivery): void {
    this.delivery = delivery;
    if (delivery.closesNext) spent.add(this.request.socket);
  }

  /** An earlier answer on this connection was to be the last. */
  get isOnSpentConnection(): boolean {
    return spent.has(this.request.socket);
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

  /** Says nothing more; ends when the client goes. @throws ClientGone */
  async hang(): Promise<never> {
    this.checkPresent();
    await this.writeHeld();
    if (!this.gone.signal.aborted) await once(this.gone.signal, 'abort');
    throw new ClientGone();
  }

  /** A whole answer. */
  respond(
    status: number,
    body: string,
    contentType = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ): void {
    this.response.end(this.beginWhole({ status, body, contentType, headers }));
  }

  /** Head and half the body of a whole answer. */
  beginHalf(answer: WholeAnswer): void {
    const bytes = this.beginWhole(answer);
    this.response.write(bytes.subarray(0, bytes.length >> 1));
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
  async event(data: string, type?: string): Promise<void> {
    this.checkPresent();
    const text = `${type === undefined ? '' : `event: ${type}\n`}data: ${data}\n\n`;
    const { splitBytes } = this.delivery;
    if (splitBytes === undefined) return this.write(text);
    this.held = Buffer.concat([this.held, Buffer.from(text)]);
    while (this.held.length >= splitBytes) {
      const piece = this.held.subarray(0, splitBytes);
      this.held = this.held.subarray(splitBytes);
      await this.write(piece);
      // What is written within one turn of the loop would leave together.
      await setImmediate();
    }
  }

  async end(): Promise<void> {
    await this.writeHeld();
    // The end leaves on its own, as that of vLLM does: a client may go before.
    await setImmediate();
    this.response.end();
  }

  /** Breaks the connection; of a whole answer that was to be sent, half goes out before. */
  async cut(answer?: WholeAnswer): Promise<void> {
    if (answer !== undefined) this.beginHalf(answer);
    await this.writeHeld();
    const { socket } = this.response;
    if (!this.delivery.resets) return void socket?.destroySoon();
    // A reader that finds bytes and the reset together takes the end for an orderly one.
    do await sleep(beforeReset);
    while (this.response.writableLength > 0 && !this.gone.signal.aborted);
    reset(socket);
  }

  get started(): boolean {
    return this.response.headersSent;
  }

  private beginWhole({ status, body, contentType = 'application/json', headers = {} }: WholeAnswer): Buffer {
    const bytes = Buffer.from(body);
    this.head(status, { 'content-length': String(bytes.length), 'content-type': contentType, ...headers });
    return bytes;
  }

  private head(status: number, headers: Readonly<Record<string, string>>): void {
    const scripted = Object.entries(this.delivery.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    this.response.writeHead(status, {
      server: 'uvicorn',
      ...headers,
      vary: 'Origin',
      ...Object.fromEntries(scripted),
    });
  }

  private async writeHeld(): Promise<void> {
    const rest = this.held;
    this.held = Buffer.alloc(0);
    if (rest.length > 0) await this.write(rest);
  }

  private async write(bytes: string | Buffer): Promise<void> {
    if (this.response.write(bytes)) return;
    await once(this.response, 'drain', { signal: this.gone.signal }).catch(() => this.checkPresent());
  }

  private checkPresent(): void {
    if (this.gone.signal.aborted) throw new ClientGone();
  }
}

/** A connection under TLS cannot be reset; it is closed in the middle. */
function reset(socket: Socket | null): void {
  try {
    socket?.resetAndDestroy();
  } catch {
    socket?.destroy();
  }
}
