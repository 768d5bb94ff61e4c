/** Pieces that are still to be written, the next one last: text as it stands, or a value. */
type Piece = { readonly text: string } | { readonly value: unknown };

const COMMA: Piece = { text: ',' };

/**
 * JSON text that is the same for the same value: keys in one order, no white space. Nesting costs no call stack.
 * Members without a value are left out, as in JSON.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  const pending: Piece[] = [{ value }];
  let written = '';
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if ('text' in piece) written += piece.text;
    else if (Array.isArray(piece.value)) pushArray(pending, piece.value);
    else if (typeof piece.value === 'object' && piece.value !== null) pushObject(pending, piece.value);
    else written += scalar(piece.value);
  }
  return written;
}

function pushArray(pending: Piece[], elements: readonly unknown[]): void {
  pending.push({ text: ']' });
  for (let i = elements.length - 1; i >= 0; i -= 1) {
    pending.push({ value: elements[i] });
    if (i > 0) pending.push(COMMA);
  }
  pending.push({ text: '[' });
}

function pushObject(pending: Piece[], object: object): void {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  members.sort(([a], [b]) => (a < b ? 1 : -1));
  pending.push({ text: '}' });
  members.forEach(([key, value], i) => {
    pending.push({ value }, { text: `${i === members.length - 1 ? '' : ','}${JSON.stringify(key)}:` });
  });
  pending.push({ text: '{' });
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
