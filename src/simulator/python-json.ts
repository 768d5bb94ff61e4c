import { PythonNumber, type PythonValue } from './python-value.js';

/** Python's `JSONDecodeError`: its message and the position in code points. */
export class JsonDecodeError extends Error {
  constructor(
    readonly reason: string,
    readonly position: number,
    private readonly document: string,
  ) {
    super(reason);
  }

  /** As `str()` of the Python exception reads. */
  get fullText(): string {
    const before = Array.from(this.document).slice(0, this.position);
    const line = before.filter((character) => character === '\n').length + 1;
    const column = this.position - before.lastIndexOf('\n');
    return `${this.reason}: line ${line} column ${column} (char ${this.position})`;
  }
}

/** The document nests deeper than Python's scanner follows. */
export class JsonRecursionError extends Error {}

const deepest = 900;
const space = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings end at control characters
const plainText = /[^"\\\x00-\x1f]*/y;
const number = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const words: readonly (readonly [string, PythonValue])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', new PythonNumber('float', 'NaN')],
  ['Infinity', new PythonNumber('float', 'Infinity')],
  ['-Infinity', new PythonNumber('float', '-Infinity')],
];
const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Parses like Python's `json.loads`: of duplicate keys the last counts, NaN is a number, big integers are kept. */
export function parsePythonJson(text: string): PythonValue {
  return new Scanner(text).document();
}

class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): PythonValue {
    this.skipSpace();
    const value = this.value(0);
    this.skipSpace();
    if (this.at < this.text.length) throw this.problem('Extra data', this.at);
    return value;
  }

  private value(depth: number): PythonValue {
    const character = this.text[this.at];
    if (character === '"') return this.string();
    if (character === '{') return this.dict(depth + 1);
    if (character === '[') return this.list(depth + 1);
    for (const [word, value] of words) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  private number(): PythonValue {
    number.lastIndex = this.at;
    const match = number.exec(this.text);
    if (match === null) throw this.problem('Expecting value', this.at);
    this.at = number.lastIndex;
    const isFloat = match[2] !== undefined || match[3] !== undefined;
    return new PythonNumber(isFloat ? 'float' : 'int', match[0]);
  }

  private dict(depth: number): PythonValue {
    if (depth > deepest) throw new JsonRecursionError();
    const members = new Map<string, PythonValue>();
    this.at += 1;
    this.skipSpace();
    if (this.take('}')) return members;
    for (;;) {
      if (this.text[this.at] !== '"') {
        throw this.problem('Expecting property name enclosed in double quotes', this.at);
      }
      const key = this.string();
      this.skipSpace();
      if (!this.take(':')) throw this.problem("Expecting ':' delimiter", this.at);
      this.skipSpace();
      members.set(key, this.value(depth));
      this.skipSpace();
      if (this.take('}')) return members;
      if (!this.take(',')) throw this.problem("Expecting ',' delimiter", this.at);
      this.skipSpace();
    }
  }

  private list(depth: number): PythonValue {
    if (depth > deepest) throw new JsonRecursionError();
    const items: PythonValue[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.take(']')) return items;
    for (;;) {
      items.push(this.value(depth));
      this.skipSpace();
      if (this.take(']')) return items;
      if (!this.take(',')) throw this.problem("Expecting ',' delimiter", this.at);
      this.skipSpace();
    }
  }

  private string(): string {
    const start = this.at;
    this.at += 1;
    let result = '';
    for (;;) {
      plainText.lastIndex = this.at;
      plainText.test(this.text);
      result += this.text.slice(this.at, plainText.lastIndex);
      this.at = plainText.lastIndex;
      const character = this.text[this.at];
      if (character === undefined) throw this.problem('Unterminated string starting at', start);
      if (character === '"') {
        this.at += 1;
        return result;
      }
      if (character !== '\\') throw this.problem('Invalid control character at', this.at);
      result += this.escape(start);
    }
  }

  private escape(start: number): string {
    const letter = this.text[this.at + 1];
    if (letter === undefined) throw this.problem('Unterminated string starting at', start);
    if (letter === 'u') {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.problem('Invalid \\uXXXX escape', this.at + 1);
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const meaning = simpleEscapes[letter];
    if (meaning === undefined) throw this.problem('Invalid \\escape', this.at);
    this.at += 2;
    return meaning;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skipSpace(): void {
    space.lastIndex = this.at;
    space.test(this.text);
    this.at = space.lastIndex;
  }

  private problem(reason: string, at: number): JsonDecodeError {
    return new JsonDecodeError(reason, Array.from(this.text.slice(0, at)).length, this.text);
  }
}
