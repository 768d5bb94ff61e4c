import { type Identifier, identifiersIn, type Worth, worthOfValue } from './identifiers.js';

/** An identifier with the name of the member that held it, where there was one. */
export interface Fact extends Identifier {
  readonly key: string;
  /** The few words that it was said in, where a person would want them. */
  readonly about?: string;
}

/** Members whose values name one thing, whatever they look like. */
const NAMING_KEY =
  /(?:^|[_-])(?:ids?|keys?|numbers?|refs?|references?|reservations?|orders?|sku|uuid|tickets?|flights?|hash|sha)$/i;
/** A code of a place or a model, not the number of a record. */
const SHORT_NUMBER = /^\d{3,5}$/;
const NAME_LIKE = /^[\w#-]{4,40}$/;

const LONGEST_VALUE = 64;
/** Members of one result beyond which it is a dump. */
const MOST_FACTS = 600;

/** What a tool's result or a message says exactly: the members of JSON, else the identifiers of its text. */
export function factsIn(text: string): readonly Fact[] {
  const json = parseJson(text);
  if (json === undefined) return identifiersIn(text).map((identifier) => ({ ...identifier, key: '' }));
  const facts: Fact[] = [];
  walk(json, '', facts);
  return facts;
}

/** The object or list that a text holds; `undefined` for anything else. */
export function parseJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = parsed(text.replace(MISSPELLED_NUMBER, '"$1"')) ?? parsed(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** Numbers that a double spells differently: they stay text. */
const MISSPELLED_NUMBER = /(?=[-\d])(?<=[[:,]\s*)(-?\d{16,}|-?\d+\.\d*0|-?\d{12,}\.\d+)(?=\s*[,\]}])/g;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function walk(root: unknown, rootKey: string, facts: Fact[]): void {
  const pending: [key: string, value: unknown][] = [[rootKey, root]];
  while (pending.length > 0 && facts.length < MOST_FACTS) {
    const [key, value] = pending.pop() as [string, unknown];
    if (typeof value !== 'object' || value === null) addScalar(key, value, facts);
    else {
      const members: [string, unknown][] = Array.isArray(value)
        ? value.map((element): [string, unknown] => [key, element])
        : Object.entries(value).flatMap(([name, member]) => membersOf(name, member, key));
      pending.push(...members.reverse());
    }
  }
}

/** A record may be found under its id: `{"1008292230": {...}}`. */
function membersOf(name: string, member: unknown, parent: string): [string, unknown][] {
  const isId = typeof member === 'object' && member !== null && worthOfValue(name) === 3;
  return isId
    ? [
        [parent, name],
        [parent, member],
      ]
    : [[name, member]];
}

function addScalar(key: string, value: unknown, facts: Fact[]): void {
  if (typeof value === 'number') {
    const text = String(value);
    if (text.replace(/\D/g, '').length >= 3) facts.push({ key, text, worth: numberWorth(value, text) });
  } else if (typeof value === 'string' && value.trim() !== '') {
    if (value.length <= LONGEST_VALUE && !value.includes('\n')) {
      const text = value.trim();
      const isNamed = NAMING_KEY.test(key) && NAME_LIKE.test(text);
      facts.push({ key, text, worth: isNamed ? 3 : SHORT_NUMBER.test(text) ? 1 : worthOfValue(text) });
    } else {
      for (const identifier of identifiersIn(value)) facts.push({ ...identifier, key });
    }
  }
}

function numberWorth(value: number, text: string): Worth {
  return Number.isInteger(value) && text.length >= 4 ? 2 : 1;
}
