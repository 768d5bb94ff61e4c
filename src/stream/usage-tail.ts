import { JsonScanner } from '../body/json-scanner.js';

/** The end of an answer that `usage` is looked for in, in bytes. */
const TAIL_BYTES = 16_384;
const USAGE = Buffer.from('"usage"');

/** Keeps the end of an answer on its way to the client, where servers report the usage; the bytes are not touched. */
export class UsageTail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#chunks.length > 1 && this.#bytes - (this.#chunks[0] as Buffer).length >= TAIL_BYTES) {
      this.#bytes -= (this.#chunks.shift() as Buffer).length;
    }
  }

  /** The last usage that is one for `read`; `undefined`: none. */
  last<T>(read: (usage: object) => T | undefined): T | undefined {
    const bytes = Buffer.concat(this.#chunks);
    for (let at = bytes.lastIndexOf(USAGE); at >= 0; at = at > 0 ? bytes.lastIndexOf(USAGE, at - 1) : -1) {
      const usage = objectAt(bytes, at + USAGE.length);
      const found = usage && read(usage);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The prompt tokens that the upstream reports, as OpenAI or Anthropic write them; `undefined`: none. */
  get promptTokens(): number | undefined {
    return this.last(promptTokensOf);
  }
}

/** What Anthropic calls input tokens are those that came from no cache. */
function promptTokensOf(usage: object): number | undefined {
  const prompt = countIn(usage, 'prompt_tokens');
  if (prompt !== undefined) return prompt;
  const input = countIn(usage, 'input_tokens');
  if (input === undefined) return undefined;
  return (
    input +
    (countIn(usage, 'cache_read_input_tokens') ?? 0) +
    (countIn(usage, 'cache_creation_input_tokens') ?? 0)
  );
}

function countIn(usage: object, name: string): number | undefined {
  const value: unknown = Reflect.get(usage, name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function objectAt(bytes: Buffer, nameEnd: number): object | undefined {
  const scanner = new JsonScanner(bytes);
  const start = scanner.afterColon(nameEnd);
  if (start < 0 || bytes[start] !== 0x7b) return undefined;
  const end = scanner.endOfValue(start);
  if (end < 0) return undefined;
  const value: unknown = JSON.parse(bytes.toString('utf8', start, end));
  return typeof value === 'object' && value !== null ? value : undefined;
}
