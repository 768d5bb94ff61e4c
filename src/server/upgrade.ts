import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { type buildConnector, errors } from 'undici';
import type { Settings } from '../config/settings.js';
import type { RelayEnd } from '../stream/relay.js';
import { toUpstreamError } from '../upstream/errors.js';
import { clientResponseHeaders, upstreamRequestHeaders } from '../upstream/headers.js';
import { refuseConnection } from './client-error.js';
import { observePass } from './observe-pass.js';
import type { PassThroughParts } from './pass-through.js';
import { rawHead } from './raw-head.js';

export interface UpgradeParts extends PassThroughParts {
  readonly settings: Settings;
  readonly connectUpstream: buildConnector.connector;
}

/** How much of what a client sends before its upgrade was answered is read at most, in bytes. */
const EARLY_BYTES = 65_536;

/** As long as WebSocket libraries wait for the other side's close. */
const LINGER_MS = 5_000;

/**
 * Passes an upgrade (WebSocket) through: request fields, query and subprotocol as sent, then bytes both ways, so
 * that frames and close codes stay what they are. A refusal of the upstream comes back as its own answer.
 */
export function passUpgrade(
  request: IncomingMessage,
  target: string,
  client: Duplex,
  head: Buffer,
  parts: UpgradeParts,
): void {
  const startedAt = performance.now();
  const outgoing = sendUpgrade(request, target, parts);
  const cancelTimeout = limitWait(outgoing, parts.settings.upstream.headersTimeoutSeconds);
  const early = readEarly(client, head);
  let isOver = false;
  const finish = (end: RelayEnd) => {
    if (isOver) return;
    isOver = true;
    cancelTimeout();
    client.off('end', giveUp).off('close', giveUp);
    observePass({ request, route: 'upgrade', startedAt }, end, parts);
  };
  const giveUp = () => {
    finish({ outcome: 'client_abort', status: 0 });
    outgoing.destroy();
    client.destroy();
  };
  client.on('error', () => client.destroy());
  client.on('end', giveUp).on('close', giveUp);
  outgoing.on('error', (cause) => {
    if (isOver) return;
    const error = toUpstreamError(cause);
    const status = refuseConnection(client, error.code);
    finish({ outcome: 'upstream_error', status, error });
  });
  outgoing.on('response', (response) => {
    const status = response.statusCode ?? 502;
    const fields = [...clientResponseHeaders(response.rawHeaders), 'connection', 'close'];
    client.write(rawHead(status, response.statusMessage, fields), 'latin1');
    pipeline(response, client, () => outgoing.destroy());
    finish({ outcome: 'complete', status });
  });
  outgoing.on('upgrade', (response, server, serverHead) => {
    finish({ outcome: 'complete', status: 101 });
    client.write(rawHead(101, response.statusMessage, response.rawHeaders), 'latin1');
    join(client, server, early(), serverHead);
  });
}

function sendUpgrade(request: IncomingMessage, target: string, parts: UpgradeParts): ClientRequest {
  const url = new URL(parts.settings.upstream.url);
  const { host, protocol, port } = url;
  // A socket takes an IPv6 address without the brackets of a URL.
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: parts.access.upstreamAuthorization,
  });
  headers.push('connection', 'Upgrade', 'upgrade', request.headers.upgrade ?? 'websocket');
  const options: RequestOptions = {
    method: request.method,
    path: parts.forwarder.target(target),
    headers: headers as unknown as RequestOptions['headers'],
    createConnection: (_options, onSocket) => {
      parts.connectUpstream({ hostname, host, protocol, port }, (error, socket) => {
        if (error === null) onSocket(null, socket);
        else onSocket(error, undefined as unknown as Duplex);
      });
      return undefined;
    },
  };
  const outgoing = httpRequest(options);
  outgoing.end();
  return outgoing;
}

/**
 * Reads from a client that waits for the answer to its upgrade: else its going would not be noticed.
 * @returns what ends that and gives what the client sent already.
 */
function readEarly(client: Duplex, head: Buffer): () => Buffer {
  const chunks = [head];
  let size = head.length;
  const onReadable = () => {
    while (size < EARLY_BYTES) {
      const chunk = client.read() as Buffer | null;
      if (chunk === null) return;
      chunks.push(chunk);
      size += chunk.length;
    }
  };
  client.on('readable', onReadable);
  return () => {
    client.off('readable', onReadable);
    return Buffer.concat(chunks);
  };
}

/** @returns what ends the limit. 0 seconds: no limit. */
function limitWait(outgoing: ClientRequest, seconds: number): () => void {
  if (seconds === 0) return () => {};
  const timer = setTimeout(() => outgoing.destroy(new errors.HeadersTimeoutError()), seconds * 1000);
  return () => clearTimeout(timer);
}

function join(client: Duplex, server: Duplex, clientHead: Buffer, serverHead: Buffer): void {
  if (serverHead.length > 0) client.write(serverHead);
  if (clientHead.length > 0) server.write(clientHead);
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('error', () => to.destroy());
    // What was read before the end is still on its way.
    from.on('close', () => to.end(() => to.destroy()));
    from.on('end', () => linger(client, server));
    from.pipe(to);
  }
}

/** A WebSocket is over once one side ended; one that never ends its own must not hold the other. */
function linger(client: Duplex, server: Duplex): void {
  const timer = setTimeout(() => {
    client.destroy();
    server.destroy();
  }, LINGER_MS);
  timer.unref();
  client.once('close', () => clearTimeout(timer));
}
