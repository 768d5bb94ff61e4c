import { Readable } from 'node:stream';

/** Shorter parts are copied into one: a write of its own costs more. In bytes. */
const SHORT = 256 * 1024;

/** The length of a body in parts. */
export function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}

/**
 * A body in parts, as undici takes it. Long parts go out from where they lie: a prompt of a megabyte is neither copied
 * nor garbage twice.
 */
export function requestBody(parts: readonly Buffer[]): Buffer | Readable {
  const chunks = joined(parts);
  const only = chunks[0];
  if (chunks.length === 1 && only !== undefined) return only;
  return new Readable({
    read() {
      for (const chunk of chunks) this.push(chunk);
      this.push(null);
    },
  });
}

function joined(parts: readonly Buffer[]): Buffer[] {
  const chunks: Buffer[] = [];
  let short: Buffer[] = [];
  const join = (): void => {
    if (short.length > 0) chunks.push(Buffer.concat(short));
    short = [];
  };
  for (const part of parts) {
    if (part.length < SHORT) {
      short.push(part);
      continue;
    }
    join();
    chunks.push(part);
  }
  join();
  return chunks;
}
