import { connect, type Socket } from 'node:net';

/** A connection on which a test writes the bytes of a request itself. */
export interface Wire {
  readonly socket: Socket;
  /** What came back so far, as latin1. */
  text(): string;
  /** Resolves once `pattern` came back. */
  until(pattern: RegExp, ms?: number): Promise<void>;
  /** Resolves when the other side closed the connection. */
  readonly closed: Promise<void>;
}

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => {
    socket.once('end', () => resolve());
    socket.once('close', () => resolve());
  });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return {
    socket,
    text,
    closed,
    async until(pattern, ms = 5000) {
      const end = performance.now() + ms;
      while (!pattern.test(text())) {
        if (performance.now() > end) throw new Error(`${pattern} not within ${ms} ms in ${text()}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** Sends these bytes and waits until the other side closes the connection. */
export async function exchangeBytes(url: string, bytes: string | Buffer): Promise<string> {
  const wire = await openWire(url);
  wire.socket.write(bytes);
  await wire.closed;
  wire.socket.destroy();
  return wire.text();
}

/** Head and body of one answer without transfer coding. */
export function splitAnswer(text: string): { statusLine: string; fields: string[]; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, end).split('\r\n');
  return { statusLine, fields, body: text.slice(end + 4) };
}
