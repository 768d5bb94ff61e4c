import { JsonScanner } from '../body/json-scanner.js';

/** The end of an answer that `usage` is looked for in, in bytes. */
const TAIL_BYTES = 16_384;
/** The longest answer of which the text is kept, in bytes. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
const USAGE = Buffer.from('"usage"');
const DATA = Buffer.from('data:');
/** Role, finish reason, and the end of the stream: events that carry no token. */
const EVENTS_WITHOUT_TOKEN = 3;

export interface ReportedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Reads along with an answer on its way to the client; the bytes are not touched. */
export class AnswerObserver {
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #events = 0;
  readonly #text: Buffer[] = [];
  #textBytes = 0;

  /** @param keepText true to keep the whole answer, for `text`. */
  constructor(private readonly keepText: boolean) {}

  onData(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    while (this.#tail.length > 1 && this.#tailBytes - (this.#tail[0] as Buffer).length >= TAIL_BYTES) {
      this.#tailBytes -= (this.#tail.shift() as Buffer).length;
    }
    this.#countEvents(chunk);
    if (!this.keepText || this.#textBytes > MOST_TEXT_BYTES) return;
    this.#text.push(chunk);
    this.#textBytes += chunk.length;
  }

  /** What the upstream reported; `undefined`: nothing. */
  get usage(): ReportedUsage | undefined {
    const bytes = Buffer.concat(this.#tail);
    for (let at = bytes.lastIndexOf(USAGE); at >= 0; at = at > 0 ? bytes.lastIndexOf(USAGE, at - 1) : -1) {
      const usage = usageAt(bytes, at + USAGE.length);
      if (usage !== undefined) return usage;
    }
    return undefined;
  }

  /** Completion tokens by the events of a stream: servers send about one token in each. */
  get streamedTokens(): number {
    return Math.max(0, this.#events - EVENTS_WITHOUT_TOKEN);
  }

  /** The whole answer, where it was kept. */
  get text(): string | undefined {
    if (!this.keepText || this.#textBytes > MOST_TEXT_BYTES) return undefined;
    return Buffer.concat(this.#text).toString();
  }

  #countEvents(chunk: Buffer): void {
    for (let at = chunk.indexOf(DATA); at >= 0; at = chunk.indexOf(DATA, at + DATA.length)) {
      if (at === 0 || chunk[at - 1] === 0x0a) this.#events += 1;
    }
  }
}

function usageAt(bytes: Buffer, nameEnd: number): ReportedUsage | undefined {
  const scanner = new JsonScanner(bytes);
  const start = scanner.afterColon(nameEnd);
  if (start < 0 || bytes[start] !== 0x7b) return undefined;
  const end = scanner.endOfValue(start);
  if (end < 0) return undefined;
  const usage: unknown = JSON.parse(bytes.toString('utf8', start, end));
  return isUsage(usage) ? usage : undefined;
}

function isUsage(value: unknown): value is ReportedUsage {
  if (typeof value !== 'object' || value === null) return false;
  return ['prompt_tokens', 'completion_tokens', 'total_tokens'].every((name) =>
    Number.isSafeInteger(Reflect.get(value, name)),
  );
}
