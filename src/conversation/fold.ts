import { contentHash, isFields, plainText } from './canonical.js';

/** Characters that are hashed at most to find one fold. */
const MOST_WORK = 2_000_000;

/**
 * How many known messages a client joined into this one: their texts, with one or two line breaks between them. Tool
 * calls are those of the last. 0: it is no fold of them.
 * @param contents the hashes of the known messages, in their order.
 */
export function foldedCount(message: unknown, contents: readonly string[]): number {
  if (!isFields(message) || (message.role !== 'user' && message.role !== 'assistant')) return 0;
  const text = plainText(message.content);
  if (text === undefined || contents.length < 2) return 0;
  return new Fold(message, contents).count(text, 0);
}

class Fold {
  #work = 0;

  constructor(
    private readonly message: Readonly<Record<string, unknown>>,
    private readonly contents: readonly string[],
  ) {}

  /** How many messages make up the text, the one at `place` being the first. */
  count(text: string, place: number): number {
    const { role, name } = this.message;
    if (place + 1 >= this.contents.length) return 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.#work += at;
      if (this.#work > MOST_WORK) return 0;
      const first = { role, name, content: text.slice(0, at) };
      if (contentHash(first) !== this.contents[place]) continue;
      const more = this.#rest(text.slice(at + 1), place + 1);
      if (more > 0) return more + 1;
    }
    return 0;
  }

  #rest(text: string, place: number): number {
    this.#work += text.length;
    const last = { ...this.message, content: text };
    return contentHash(last) === this.contents[place] ? 1 : this.count(text, place);
  }
}
