import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** One request as it stood on the wire. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Request line and fields. */
  readonly head: string;
  readonly body: Buffer;
  readonly socket: Socket;
  /** 1 for the first request on its connection. */
  readonly nth: number;
}

export interface RawUpstream {
  readonly url: string;
  readonly port: number;
  /** Everything but the proxy's own questions, such as for models and counts. */
  readonly requests: RawRequest[];
  close(): Promise<void>;
}

/** An upstream that answers with bytes. It answers the proxy's own questions itself, on sockets of their own. */
export async function startRawUpstream(
  answer: (request: RawRequest) => void,
  tls?: { key: string; cert: string },
): Promise<RawUpstream> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serve(socket, (request) => {
      const known = ownAnswer(request);
      if (known !== undefined) {
        socket.write(known);
        return;
      }
      requests.push(request);
      answer(request);
    });
  };
  const server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function serve(socket: Socket, onRequest: (request: RawRequest) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  let nth = 0;
  socket.on('data', (chunk) => {
    seen = Buffer.concat([seen, chunk]);
    for (;;) {
      const end = seen.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = seen.subarray(0, end).toString('latin1');
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (seen.length < end + 4 + length) return;
      const [method = '', target = ''] = head.split(' ');
      nth += 1;
      const body = seen.subarray(end + 4, end + 4 + length);
      seen = seen.subarray(end + 4 + length);
      onRequest({ method, target, head, body, socket, nth });
    }
  });
}

function ownAnswer({ target }: RawRequest): string | undefined {
  if (target === '/v1/models') return jsonAnswer({ data: [{ id: 'm', max_model_len: 4096 }] });
  if (target === '/tokenize') return jsonAnswer({ count: 10, max_model_len: 4096, tokens: [1] });
  if (target === '/v1/messages/count_tokens') return jsonAnswer({ input_tokens: 10 });
  if (UNKNOWN.has(target)) return jsonAnswer({ detail: 'Not Found' }, '404 Not Found');
  return undefined;
}

const UNKNOWN = new Set(['/version', '/v1/chat/completions/render']);

/** The bytes of a complete answer in JSON. */
export function jsonAnswer(body: unknown, status = '200 OK'): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
