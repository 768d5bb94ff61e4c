const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** From an opening bracket to its closing one: the same distance for both kinds. */
const TO_CLOSING = 2;

/** 1 for every byte that stands for itself inside a string. */
const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

const ESCAPABLE = byteSet('"\\/bfnrt');
const HEX = byteSet('0123456789abcdefABCDEF');
const LITERALS = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')] as const;
const SHALLOW = new Uint8Array(512);

/**
 * Finds the ends of JSON values (RFC 8259) in UTF-8 bytes without building them. Nesting costs no call stack.
 * Every method takes the offset of a first byte and returns the offset after the last one, or -1: not JSON.
 */
export class JsonScanner {
  /** True once a key was seen that is spelled with an escape. */
  sawEscapedKey = false;
  /** The offset after the last comma between elements of the container that was read last; -1: it had none. */
  afterLastComma = -1;

  /** The same bytes, four at a time, from the first multiple of four in their memory on. */
  private readonly words: Int32Array;
  private readonly offset: number;

  constructor(private readonly bytes: Uint8Array) {
    this.offset = bytes.byteOffset & 3;
    const length = (bytes.length + this.offset) >>> 2;
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset - this.offset, length);
  }

  /** The offset of the first byte at or after `at` that is no white space. */
  afterSpace(at: number): number {
    const bytes = this.bytes;
    let next = at;
    for (;;) {
      const byte = bytes[next] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return next;
      next += 1;
    }
  }

  endOfValue(start: number): number {
    const first = this.bytes[start];
    return first === OPEN_OBJECT || first === OPEN_ARRAY
      ? this.endOfContainer(start)
      : this.endOfScalar(start);
  }

  endOfKey(start: number): number {
    const bytes = this.bytes;
    if (bytes[start] !== QUOTE) return -1;
    let at = start + 1;
    while (PLAIN[bytes[at] as number] === 1) at += 1;
    if (bytes[at] === QUOTE) return at + 1;
    this.sawEscapedKey = true;
    return this.endOfString(start);
  }

  /** From the end of a key to the start of its value. */
  afterColon(keyEnd: number): number {
    const colon = this.afterSpace(keyEnd);
    return this.bytes[colon] === COLON ? this.afterSpace(colon + 1) : -1;
  }

  endOfString(start: number): number {
    const bytes = this.bytes;
    let at = start + 1;
    for (;;) {
      at = this.afterPlain(at);
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte !== BACKSLASH) return -1;
      at = ESCAPABLE[bytes[at + 1] as number] === 1 ? at + 2 : this.endOfUnicodeEscape(at);
      if (at < 0) return -1;
    }
  }

  /** Most bytes of a body are plain ones in strings: reading them by fours makes the scan twice as fast. */
  private afterPlain(start: number): number {
    const { bytes, words, offset } = this;
    let at = start;
    for (;;) {
      while (((at + offset) & 3) !== 0) {
        if (PLAIN[bytes[at] as number] !== 1) return at;
        at += 1;
      }
      let word = (at + offset) >>> 2;
      while (word < words.length && isPlainWord(words[word] as number)) word += 1;
      at = word * 4 - offset;
      if (PLAIN[bytes[at] as number] !== 1) return at;
      at += 1;
    }
  }

  private endOfUnicodeEscape(backslash: number): number {
    const bytes = this.bytes;
    if (bytes[backslash + 1] !== 0x75) return -1;
    for (let at = backslash + 2; at < backslash + 6; at += 1) if (HEX[bytes[at] as number] !== 1) return -1;
    return backslash + 6;
  }

  /** The end of an array of which everything up to `at`, the offset after one of its commas, was read already. */
  endOfOpenArray(at: number): number {
    SHALLOW[0] = OPEN_ARRAY;
    this.afterLastComma = at;
    return this.endOfNesting(this.afterSpace(at), 1);
  }

  private endOfContainer(start: number): number {
    this.afterLastComma = -1;
    return this.endOfNesting(start, 0);
  }

  /** From the first byte of a value, which so many containers around it are open for. */
  private endOfNesting(start: number, depthAtStart: number): number {
    const bytes = this.bytes;
    let open: Uint8Array = SHALLOW;
    let depth = depthAtStart;
    let at = start;
    for (;;) {
      const byte = bytes[at] as number;
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (depth === open.length) open = doubled(open);
        open[depth] = byte;
        depth += 1;
        at = this.afterSpace(at + 1);
        if (bytes[at] !== byte + TO_CLOSING) {
          if (byte === OPEN_OBJECT) at = this.startOfMemberValue(at);
          if (at < 0) return -1;
          continue;
        }
      } else {
        at = this.endOfScalar(at);
        if (at < 0) return -1;
        at = this.afterSpace(at);
      }
      while (bytes[at] === (open[depth - 1] as number) + TO_CLOSING) {
        depth -= 1;
        if (depth === 0) return at + 1;
        at = this.afterSpace(at + 1);
      }
      if (bytes[at] !== COMMA) return -1;
      if (depth === 1) this.afterLastComma = at + 1;
      at = this.afterSpace(at + 1);
      if (open[depth - 1] === OPEN_OBJECT) at = this.startOfMemberValue(at);
      if (at < 0) return -1;
    }
  }

  private startOfMemberValue(at: number): number {
    const keyEnd = this.endOfKey(at);
    return keyEnd < 0 ? -1 : this.afterColon(keyEnd);
  }

  private endOfScalar(start: number): number {
    const first = this.bytes[start] as number;
    if (first === QUOTE) return this.endOfString(start);
    if (first === 0x2d || isDigit(first)) return this.endOfNumber(start);
    for (const literal of LITERALS) {
      if (first === literal[0]) return this.endOfLiteral(start, literal);
    }
    return -1;
  }

  private endOfLiteral(start: number, literal: Uint8Array): number {
    for (let i = 1; i < literal.length; i += 1) if (this.bytes[start + i] !== literal[i]) return -1;
    return start + literal.length;
  }

  private endOfNumber(start: number): number {
    const bytes = this.bytes;
    let at = bytes[start] === 0x2d ? start + 1 : start;
    at = bytes[at] === 0x30 ? at + 1 : this.endOfDigits(at);
    if (at >= 0 && bytes[at] === 0x2e) at = this.endOfDigits(at + 1);
    if (at >= 0 && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
      const sign = bytes[at + 1];
      at = this.endOfDigits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
    }
    return at;
  }

  /** At least one digit. */
  private endOfDigits(start: number): number {
    const bytes = this.bytes;
    let at = start;
    while (isDigit(bytes[at] as number)) at += 1;
    return at === start ? -1 : at;
  }
}

/**
 * True if none of the four bytes is a quote, a backslash or below 0x20 (Bit Twiddling Hacks, "Determine if a word
 * has a byte equal to n", "less than n").
 */
function isPlainWord(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const controls = (word - 0x20202020) & ~word;
  return (
    ((controls | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) &
      0x80808080) ===
    0
  );
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

function doubled(stack: Uint8Array): Uint8Array {
  const larger = new Uint8Array(stack.length * 2);
  larger.set(stack);
  return larger;
}
