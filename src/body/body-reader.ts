import { type RawBody, type RawObject, readBody } from './raw-object.js';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_BODIES = 64;

/**
 * Reads request bodies as `readBody` does. An agent sends its whole history with each request: what a body repeats
 * of a recent one is neither scanned nor hashed again. Recent bodies stay in memory, at most 8 MiB and 64 of them.
 */
export class BodyReader {
  /** The most recent one last. */
  readonly #recent: RawObject[] = [];
  #bytes = 0;

  /** Length of the bodies in memory. */
  get bytesKept(): number {
    return this.#bytes;
  }

  read(bytes: Buffer): RawBody {
    const known = this.#longestShared(bytes);
    const body = readBody(bytes, known);
    if (body.kind === 'object' && body.object.sharedLength > 0) this.#remember(body.object, known);
    return body;
  }

  #longestShared(bytes: Buffer): RawObject | undefined {
    let longest: RawObject | undefined;
    for (const object of this.#recent) {
      const { sharedLength } = object;
      if (sharedLength <= (longest?.sharedLength ?? 0) || sharedLength > bytes.length) continue;
      if (object.bytes.compare(bytes, 0, sharedLength, 0, sharedLength) === 0) longest = object;
    }
    return longest;
  }

  /** A body takes the place of the one that it grew from. */
  #remember(object: RawObject, grewFrom: RawObject | undefined): void {
    if (object.bytes.length > MOST_BYTES) return;
    if (grewFrom !== undefined) this.#forget(this.#recent.indexOf(grewFrom));
    this.#recent.push(object);
    this.#bytes += object.bytes.length;
    while (this.#bytes > MOST_BYTES || this.#recent.length > MOST_BODIES) this.#forget(0);
  }

  #forget(index: number): void {
    const [gone] = this.#recent.splice(index, 1);
    this.#bytes -= gone?.bytes.length ?? 0;
  }
}
