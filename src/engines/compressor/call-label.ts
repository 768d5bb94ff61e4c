import { type Call, isRecord } from './message-text.js';
import { parseJson } from './record-facts.js';

const LONGEST_VALUE = 60;
const LONGEST_LIST = 160;

/** A call in one line: `read_file(src/a.ts)`, `search(pattern=x, path=src)`. */
export function callLabel({ name, args }: Call): string {
  return `${name}(${listedArguments(args)})`;
}

/** The name of an only argument is not worth its room: what it names is told by the tool's. */
function listedArguments(args: string): string {
  const parsed = parseJson(args);
  const members = isRecord(parsed) ? Object.entries(parsed) : undefined;
  const list =
    members === undefined
      ? args.trim()
      : members
          .map(([key, value]) => (members.length === 1 ? short(value) : `${key}=${short(value)}`))
          .join(', ');
  return clip(list.replaceAll(/\s+/g, ' '), LONGEST_LIST);
}

function short(value: unknown): string {
  return clip(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), LONGEST_VALUE);
}

/** At most so many characters, the end marked; never half of a pair. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}...`;
}
