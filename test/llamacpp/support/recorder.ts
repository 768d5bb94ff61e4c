import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Recorder {
  readonly url: string;
  /** Bodies of what was posted to Chat Completions, oldest first. */
  readonly chats: readonly string[];
}

/** Passes everything on to `target`, and keeps what it saw. Ends with the test. */
export async function recorder(target: string): Promise<Recorder> {
  const chats: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await bodyOf(incoming);
    if (incoming.url === '/v1/chat/completions') chats.push(body.toString());
    const { method, headers } = incoming;
    const onwards = request(target + incoming.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
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
