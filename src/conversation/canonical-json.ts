/** What is still to be written: a value with what stands before it, or a closing bracket. */
type Piece = { readonly before: string; readonly value: unknown } | string;

/**
 * JSON text that is the same for the same value: keys in one order, no white space. Nesting costs no call stack.
 * Members without a value are left out, as in JSON.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  const pending: Piece[] = [{ before: '', value }];
  let written = '';
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (typeof piece === 'string') written += piece;
    else written += piece.before + begin(piece.value, pending);
  }
  return written;
}

/** A scalar, or an opening bracket: what follows it is then pending, the next piece last. */
function begin(value: unknown, pending: Piece[]): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (Array.isArray(value)) {
    pending.push(']');
    for (let i = value.length - 1; i >= 0; i -= 1) {
      pending.push({ before: i === 0 ? '' : ',', value: value[i] });
    }
    return '[';
  }
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  keys.sort();
  pending.push('}');
  for (let i = keys.length - 1; i >= 0; i -= 1) {
    const key = keys[i] as string;
    pending.push({ before: `${i === 0 ? '' : ','}${JSON.stringify(key)}:`, value: members[key] });
  }
  return '{';
}

function scalar(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null');
}

const LONG_NUMBER = /\d{16}/;
const STRING_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{15,}/gs;

/**
 * The canonical form of the JSON in a text; `undefined`: it is no JSON. Numbers beyond the precision of JavaScript
 * compare by their spelling.
 */
export function canonicalJsonText(text: string): string | undefined {
  try {
    const exact = LONG_NUMBER.test(text) ? text.replace(STRING_OR_LONG_NUMBER, quoted) : text;
    return canonicalJson(JSON.parse(exact));
  } catch {
    return undefined;
  }
}

/** A character that JSON cannot hold unescaped sets the quoted number apart from any string. */
function quoted(token: string): string {
  return token.startsWith('"') ? token : `"\\u0000${token}"`;
}
