import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Exchange {
  readonly sent: string;
  /** Empty until it came whole. */
  readonly answer: string;
}

export interface Recorder {
  readonly url: string;
  /** What was posted to Chat Completions, oldest first. */
  readonly chats: readonly Exchange[];
}

/**
 * Passes everything on to `target`, and keeps what it saw. Ends with the test.
 * @param failingCounts how many counts fail before the first one is passed on
 */
export async function recorder(target: string, failingCounts = 0): Promise<Recorder> {
  let failing = failingCounts;
  const chats: { sent: string; answer: string }[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await bodyOf(incoming);
    const exchange = { sent: body.toString(), answer: '' };
    if (incoming.url === '/v1/chat/completions') chats.push(exchange);
    if (failing > 0 && incoming.url?.endsWith('/input_tokens')) {
      failing -= 1;
      outgoing.writeHead(503).end();
      return;
    }
    const { method, headers } = incoming;
    const onwards = request(target + incoming.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      void bodyOf(answer).then((bytes) => {
        exchange.answer = bytes.toString();
      });
    });
    onwards.once('error', () => outgoing.destroy());
    outgoing.once('close', () => onwards.destroy());
    onwards.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chats };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
