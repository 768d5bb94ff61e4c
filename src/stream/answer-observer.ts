import { promptTokensOf, UsageTail } from './usage-tail.js';

/** The longest answer of which the text is kept, in bytes. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
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
  readonly tail = new UsageTail();
  #events = 0;
  readonly #text: Buffer[] = [];
  #textBytes = 0;

  /** @param keepText true to keep the whole answer, for `text`. */
  constructor(private readonly keepText: boolean) {}

  onData(chunk: Buffer): void {
    this.tail.onData(chunk);
    this.#countEvents(chunk);
    if (!this.keepText || this.#textBytes > MOST_TEXT_BYTES) return;
    this.#text.push(chunk);
    this.#textBytes += chunk.length;
  }

  /** What the upstream reported; `undefined`: nothing. */
  get usage(): ReportedUsage | undefined {
    return this.tail.last(reportedUsage);
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

/** As OpenAI reports it, and what Responses and Anthropic call input and output. */
function reportedUsage(usage: object): ReportedUsage | undefined {
  if (isUsage(usage)) return usage;
  const prompt = promptTokensOf(usage);
  const completion: unknown = Reflect.get(usage, 'output_tokens');
  if (prompt === undefined || !isCount(completion)) return undefined;
  return {
    ...usage,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

function isUsage(value: object): value is ReportedUsage {
  return ['prompt_tokens', 'completion_tokens', 'total_tokens'].every((name) =>
    isCount(Reflect.get(value, name)),
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
