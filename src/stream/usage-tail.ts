import { membersAtEnd } from './members-at-end.js';

/** The end of an answer that its usage is looked for in, in bytes. */
const TAIL_BYTES = 16_384;
const DATA = Buffer.from('data:');
const LINE_WITH_DATA = Buffer.from('\ndata:');
const LINE_END = 0x0a;
/** Of a response that runs on behind its answer: what it reports is not yet so. */
const UNDER_WAY = new Set<unknown>(['queued', 'in_progress']);

/**
 * Keeps the end of an answer on its way to the client, where servers report the usage; the bytes are not touched. A
 * usage is read only at its own place in the answer, or in an event of it: clients' words are echoed in others.
 */
export class UsageTail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isWhole = true;

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#chunks.length > 1 && this.#bytes - (this.#chunks[0] as Buffer).length >= TAIL_BYTES) {
      this.#bytes -= (this.#chunks.shift() as Buffer).length;
      this.#isWhole = false;
    }
  }

  /** The last usage that is one for `read`; `undefined`: none. */
  last<T>(read: (usage: object) => T | undefined): T | undefined {
    const kept = Buffer.concat(this.#chunks);
    const isWhole = this.#isWhole && kept.length <= TAIL_BYTES;
    for (const value of lastValues(kept.subarray(-TAIL_BYTES), isWhole)) {
      const usage = usageOf(value);
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

/** The events of a stream, or the one object that an answer is, the last one first. No string of JSON has a line end. */
function* lastValues(bytes: Buffer, isWhole: boolean): Generator<object | undefined> {
  let end = bytes.length;
  let isStream = isWhole && startsWithData(bytes);
  for (let at = lineWithData(bytes, end); at >= 0; at = lineWithData(bytes, at)) {
    isStream = true;
    yield parsed(firstLine(bytes.subarray(at + LINE_WITH_DATA.length, end)));
    end = at;
  }
  const first = isStream ? firstLine(bytes.subarray(0, end)) : bytes;
  if (!isWhole) yield parsedEnd(first);
  else yield parsed(startsWithData(first) ? first.subarray(DATA.length) : first);
}

function lineWithData(bytes: Buffer, before: number): number {
  return before > 0 ? bytes.lastIndexOf(LINE_WITH_DATA, before - 1) : -1;
}

function startsWithData(bytes: Buffer): boolean {
  return bytes.subarray(0, DATA.length).equals(DATA);
}

function firstLine(bytes: Buffer): Buffer {
  const end = bytes.indexOf(LINE_END);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** `undefined`: no JSON, such as the mark at the end of a stream, or no object. */
function parsed(bytes: Buffer): object | undefined {
  try {
    return asObject(JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}

/** Of an object whose beginning was not kept. */
function parsedEnd(bytes: Buffer): object | undefined {
  try {
    const end = membersAtEnd(bytes);
    // This event has but one member that is an object.
    return end && member(end.members, 'type') === 'response.completed'
      ? { response: end.cut, ...end.members }
      : end?.members;
  } catch {
    return undefined;
  }
}

/** As OpenAI and Anthropic report it: in the answer or event itself, or in the one that an event carries. */
function usageOf(value: object | undefined): object | undefined {
  if (value === undefined || UNDER_WAY.has(member(value, 'status'))) return undefined;
  const usage = asObject(member(value, 'usage'));
  if (usage !== undefined) return usage;
  const type = member(value, 'type');
  if (type === 'message_start') return usageOf(asObject(member(value, 'message')));
  const isOfResponse = typeof type === 'string' && type.startsWith('response.');
  return isOfResponse ? usageOf(asObject(member(value, 'response'))) : undefined;
}

function member(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function asObject(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** What Anthropic calls input tokens are those that came from no cache. */
export function promptTokensOf(usage: object): number | undefined {
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
  const value = member(usage, name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
