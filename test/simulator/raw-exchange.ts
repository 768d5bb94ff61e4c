import { createConnection } from 'node:net';

export interface RawExchange {
  /** Everything that came, as text. */
  readonly text: string;
  /** What each read brought. */
  readonly reads: readonly string[];
  /** The code with which the connection broke; undefined when it ended in order. */
  readonly error: string | undefined;
}

/** Sends a chat request on a connection of its own and takes what comes until the connection ends. */
export function rawExchange(port: number, body: object): Promise<RawExchange> {
  const text = JSON.stringify(body);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return new Promise((resolve) => {
    const reads: string[] = [];
    let error: string | undefined;
    const socket = createConnection(port, '127.0.0.1', () => socket.write(head + text));
    socket.on('data', (bytes) => reads.push(bytes.toString('latin1')));
    socket.once('error', (failure: NodeJS.ErrnoException) => {
      error = failure.code;
    });
    socket.once('close', () => resolve({ text: reads.join(''), reads, error }));
  });
}
