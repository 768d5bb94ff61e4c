import type { Duplex } from 'node:stream';

/** One frame. Those of a client are masked; the mask is all zeros, so that the bytes stay readable. */
export function frame(opcode: number, payload: Buffer | string, isMasked = true): Buffer {
  const data = Buffer.from(payload);
  const extended = data.length > 125;
  const head = Buffer.alloc(extended ? 4 : 2);
  head[0] = 0x80 | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (extended ? 126 : data.length);
  if (extended) head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), data]);
}

export const TEXT = 1;
export const CLOSE = 8;

/** A close frame's payload. */
export function closePayload(code: number | undefined, reason = ''): Buffer {
  if (code === undefined) return Buffer.alloc(0);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, Buffer.from(reason)]);
}

/** The bytes of a stream so far; `until` waits for as many. */
export function collect(stream: Duplex): { bytes(): Buffer; until(length: number): Promise<void> } {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const bytes = () => Buffer.concat(chunks);
  return {
    bytes,
    async until(length) {
      for (let i = 0; bytes().length < length; i += 1) {
        if (i > 400) throw new Error(`only ${bytes().length} of ${length} bytes`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** The bytes that ask for an upgrade. */
export function handshake(fields: readonly string[] = []): string {
  const lines = [
    'GET /v1/realtime?model=m%2F1&x= HTTP/1.1',
    'Host: client.example',
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
