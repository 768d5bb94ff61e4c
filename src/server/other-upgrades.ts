import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { fieldLines } from './raw-head.js';

/** True for what is passed on as an upgrade. */
export function isWebSocket(request: IncomingMessage): boolean {
  return request.method === 'GET' && request.headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/**
 * Serves a request that asks for another protocol (Java's client adds `Upgrade: h2c` to every request) as the
 * ordinary request that it also is: Node has taken its connection for an upgrade, so it is read once more.
 */
export function serveAsOrdinary(
  server: Server,
  request: IncomingMessage,
  connection: Duplex,
  rest: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const head = `${method} ${url} HTTP/${httpVersion}\r\n${fieldLines(withoutUpgrade(rawHeaders))}\r\n`;
  connection.unshift(Buffer.concat([Buffer.from(head, 'latin1'), rest]));
  server.emit('connection', connection);
}

function withoutUpgrade(raw: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() !== 'upgrade') out.push(raw[i] as string, raw[i + 1] as string);
  }
  return out;
}
