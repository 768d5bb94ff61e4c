/** A JSON value as Python's `json` module reads it: number spelling, key order and duplicates are Python's. */
export type PythonValue = null | boolean | string | PythonNumber | readonly PythonValue[] | PythonDict;

export type PythonDict = ReadonlyMap<string, PythonValue>;

/** A number that remembers whether Python would hold an `int` or a `float`. */
export class PythonNumber {
  /** As Python prints it. */
  readonly text: string;

  constructor(
    readonly kind: 'int' | 'float',
    spelling: string,
  ) {
    this.text = kind === 'int' ? BigInt(spelling).toString() : floatRepr(Number(spelling));
  }

  get value(): number {
    if (this.text === 'nan') return Number.NaN;
    if (this.text.endsWith('inf')) return this.text.startsWith('-') ? -Infinity : Infinity;
    return Number(this.text);
  }
}

export function isDict(value: PythonValue | undefined): value is PythonDict {
  return value instanceof Map;
}

export function isList(value: PythonValue | undefined): value is readonly PythonValue[] {
  return Array.isArray(value);
}

/** Python's truth of a value. */
export function isTruthy(value: PythonValue | undefined): boolean {
  if (value instanceof PythonNumber) return value.value !== 0;
  if (isDict(value)) return value.size > 0;
  if (isList(value)) return value.length > 0;
  return Boolean(value);
}

/** `float.__repr__`: shortest digits, exponent from 1e16 upwards and below 1e-4. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string];
    const power = exponent.slice(1).padStart(2, '0');
    return `${digits}e${exponent[0]}${power}`;
  }
  const plain = String(value);
  return plain.includes('.') ? plain : `${plain}.0`;
}

/** Python's `repr()`. */
export function pythonRepr(value: PythonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return stringRepr(value);
  if (value instanceof PythonNumber) return value.text;
  if (isDict(value)) {
    return `{${[...value].map(([key, item]) => `${stringRepr(key)}: ${pythonRepr(item)}`).join(', ')}}`;
  }
  return `[${value.map(pythonRepr).join(', ')}]`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Python's `repr()` of a text. */
export function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\\n\r\t]|[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) => {
    const known = escapes[character];
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code <= 0xffff
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `${quote}${quote === "'" ? body.replaceAll("'", "\\'") : body}${quote}`;
}

/** The plain JavaScript value, for reading scripts: a `Map` becomes an object, a number a `number`. */
export function toPlain(value: PythonValue): unknown {
  if (value instanceof PythonNumber) return value.value;
  if (isDict(value)) return Object.fromEntries([...value].map(([key, item]) => [key, toPlain(item)]));
  return isList(value) ? value.map(toPlain) : value;
}

/** A JavaScript value (of configuration) as Python would hold it. */
export function fromPlain(value: unknown): PythonValue {
  if (typeof value === 'number') {
    return new PythonNumber(Number.isSafeInteger(value) ? 'int' : 'float', String(value));
  }
  if (Array.isArray(value)) return value.map(fromPlain);
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([key, item]) => [key, fromPlain(item)]));
  }
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** JSON, numbers as Python spells them. */
export function jsonText(value: PythonValue): string {
  if (value instanceof PythonNumber) return value.text;
  if (isList(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (!isDict(value)) return JSON.stringify(value);
  return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(', ')}}`;
}

/** A text that is equal for equal values, and only for them. */
export function identity(value: PythonValue): string {
  if (value instanceof PythonNumber) return `${value.kind} ${value.text}`;
  if (isList(value)) return `[${value.map(identity).join()}]`;
  if (isDict(value))
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}:${identity(item)}`).join()}}`;
  return JSON.stringify(value);
}
