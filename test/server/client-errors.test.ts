import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Answer } from '../../src/stream/answer.js';
import { type RelayEnd, relay } from '../../src/stream/relay.js';
import type { Forwarder } from '../../src/upstream/forwarder.js';
import { startProxy } from '../support/proxy.js';
import { open } from './support/client.js';
import { closing } from './support/pair.js';
import { startRawUpstream } from './support/raw-upstream.js';
import { openWire } from './support/wire.js';

test('writes no error into the middle of an answer where the rest of an upload is malformed', async () => {
  const upstream = closing(
    await startRawUpstream(({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\n'),
    ),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const wire = await openWire(proxy.url);
  wire.socket.write('POST /v1/x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n');
  await wire.until(/begun/);
  wire.socket.write('no length\r\n');
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(wire.text()).not.toContain('malformed_request');
});

test('sends nothing upstream for a client that has gone already', async () => {
  let sent = 0;
  const forwarder = {
    send: () => {
      sent += 1;
      return { abort: () => {}, resume: () => {} };
    },
  } as unknown as Forwarder;
  const ended = new Promise<RelayEnd>((resolve) => {
    const server = createServer((_request, response) => {
      response.once('close', () => {
        const request = { method: 'GET', path: '/', headers: [], body: null };
        resolve(relay(forwarder, request, new Answer(response)));
      });
    });
    closing({ close: async () => void server.close() });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const request = open(`http://127.0.0.1:${port}`, { path: '/' }).on('error', () => {});
      server.once('request', () => request.destroy());
    });
  });
  expect(await ended).toEqual({ outcome: 'client_abort', status: 0 });
  expect(sent).toBe(0);
});
