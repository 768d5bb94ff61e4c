import { request as httpRequest, type IncomingMessage, type RequestOptions, STATUS_CODES } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Settings } from '../config/settings.js';
import { ownError } from '../stream/own-error.js';
import { tlsOptions } from '../upstream/agent.js';
import { toUpstreamError } from '../upstream/errors.js';
import { clientResponseHeaders, upstreamRequestHeaders } from '../upstream/headers.js';
import type { PassThroughParts } from './pass-through.js';

/**
 * Passes an upgrade (WebSocket) through: request fields, query and subprotocol as sent, then bytes both ways, so
 * that frames and close codes stay what they are. A refusal of the upstream comes back as its own answer.
 */
export function passUpgrade(
  request: IncomingMessage,
  target: string,
  client: Duplex,
  head: Buffer,
  upstream: Settings['upstream'],
  parts: PassThroughParts,
): void {
  const url = new URL(upstream.url);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = send({
    ...tlsOptions(upstream),
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? undefined : Number(url.port),
    method: request.method,
    path: parts.forwarder.target(target),
    headers: upgradeHeaders(request, parts) as unknown as RequestOptions['headers'],
    agent: false,
  } as RequestOptions);
  const fail = (error: unknown) => {
    const own = ownError(toUpstreamError(error).code);
    client.end(
      rawHead(own.status, undefined, ['content-type', 'application/json', 'connection', 'close']) + own.body,
    );
  };
  client.on('error', () => outgoing.destroy());
  client.on('close', () => outgoing.destroy());
  outgoing.on('error', fail);
  outgoing.on('response', (response) => {
    const fields = [...clientResponseHeaders(response.rawHeaders), 'connection', 'close'];
    client.write(rawHead(response.statusCode ?? 502, response.statusMessage, fields), 'latin1');
    response.pipe(client);
  });
  outgoing.on('upgrade', (response, server, serverHead) => {
    outgoing.off('error', fail);
    client.write(rawHead(101, response.statusMessage, response.rawHeaders), 'latin1');
    join(client, server, head, serverHead);
  });
  outgoing.end();
}

function join(client: Duplex, server: Duplex, clientHead: Buffer, serverHead: Buffer): void {
  if (serverHead.length > 0) client.write(serverHead);
  if (clientHead.length > 0) server.write(clientHead);
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

function upgradeHeaders(request: IncomingMessage, parts: PassThroughParts): string[] {
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: parts.access.upstreamAuthorization,
  });
  return [...headers, 'connection', 'Upgrade', 'upgrade', request.headers.upgrade ?? 'websocket'];
}

/** A response head as it stands on the wire. */
export function rawHead(status: number, message: string | undefined, fields: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${message ?? STATUS_CODES[status] ?? ''}`];
  for (let i = 0; i + 1 < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
