import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Passes everything on to `target`, but answers these paths itself, with that status. Ends with the test. */
export async function gateway(target: string, statuses: Readonly<Record<string, number>>): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const status = statuses[url];
    if (status !== undefined) {
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end('{"detail":"hidden"}');
      return;
    }
    const onwards = request(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onwards.once('error', () => outgoing.destroy());
    incoming.pipe(onwards);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
