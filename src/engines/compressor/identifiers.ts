/** How much an identifier is worth when not all can be kept: 3 names one thing, 0 is a word that describes one. */
export type Worth = 0 | 1 | 2 | 3;

export interface Identifier {
  readonly text: string;
  readonly worth: Worth;
}

/** Longer than any identifier that is worth its room. */
const LONGEST = 160;
/** What is scanned of one text: a dump of more is no place for facts. */
const MOST_SCANNED = 200_000;

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?';

/** In the order of precedence: what one has taken, no later one takes apart. */
const PATTERNS: readonly (readonly [pattern: RegExp, worth: Worth])[] = [
  [/\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s"'<>`)\]}|\\]+/gi, 2],
  [/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}/g, 3],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, 3],
  [
    /(?<!\w)\d[\d,]{0,40}(?:\.\d+)?\s?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|euros?|dollars?|percent|[KMGT]i?B|k[gm])\b/g,
    2,
  ],
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g, 2],
  [
    new RegExp(
      `\\b(?:\\d{1,2}(?:st|nd|rd|th)? ${MONTH}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?)(?:,? \\d{4})?\\b`,
      'g',
    ),
    2,
  ],
  [/\b\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})\b/g, 2],
  [/(?<![\w/.-])(?:[A-Za-z]:\\|~\/|\.{1,2}\/|\/)[\w.@%+~-]+(?:[\\/][\w.@%+~-]+)*/g, 2],
  [/(?<![\w.-])[\w.-]{1,80}(?:\/[\w.@-]{1,80}){1,16}\.\w{1,8}\b/g, 2],
  [/(?<![\w./-])\w[\w.@-]{0,80}(?:\/[\w.@-]{1,80}){2,16}\b/g, 2],
  [/(?<![\w./-])(?=[\w./-]{0,80}[-_\d])[A-Za-z][\w.-]{1,80}\/[\w.-]{2,80}\b/g, 2],
  [
    /(?<![\w-])[\w-]{1,80}\.(?:[cm]?[jt]sx?|py|rs|go|java|kt|rb|php|c|cc|cpp|h|hpp|cs|sh|sql|md|txt|json|ya?ml|toml|ini|cfg|conf|csv|log|xml|html?|css|pdf|png|jpe?g|svg|lock|env)\b/g,
    2,
  ],
  [
    /[$€£¥]\s?\d[\d,]{0,40}(?:\.\d+)?(?:\s?[kKmM]\b)?|\b\d[\d,]{0,40}(?:\.\d+)?\s?(?:USD|EUR|GBP|CHF|JPY|€|%)/g,
    2,
  ],
  [/\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m\b)?/gi, 2],
  [/\bv?\d+\.\d+\.\d+(?:\.\d+)*(?:[-+][\w.]+)?\b|\bv\d+(?:\.\d+)?\b/g, 2],
  [
    /(?<!\w)#?(?=[\w.-]{0,80}\d)(?=[\w.-]{0,80}[A-Za-z])[A-Za-z0-9]{1,80}(?:[-_.][A-Za-z0-9]{1,80}){0,12}\b/g,
    3,
  ],
  [/\b[a-f]{7,40}\b/g, 2],
  [/#\d+\b|\b\d{4,}(?:[-_]\d+)*\b|\b\d+(?:-\d+){2,}\b/g, 3],
  [/(?<![\p{L}\d-])\p{L}{2,20} \d{1,2}(?![\w%]|[.,:/-]\d)/gu, 1],
  [/\b\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|\b\d+\.\d+\b|\b\d{3}\b/g, 1],
  [/\b[A-Z]{2,}(?:[-_][A-Z0-9]+)+\b|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g, 2],
  [/\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b/g, 2],
  [/(?<![\w"])"[^"\n]{2,40}"(?!\w)|`[^`\n]{2,60}`|(?<!\w)'[^'\n]{2,40}'(?!\w)/g, 1],
  [/(?<![\p{L}'-])\p{Lu}\p{Ll}[\p{L}'-]*(?: \p{Lu}\p{Ll}[\p{L}'-]*)+/gu, 2],
  [/(?<=[\p{Ll},;] )\p{Lu}\p{Ll}[\p{L}'-]*/gu, 0],
  [/\b[A-Z]{5,10}\b/g, 1],
  [/\b[A-Z]{3,}\b/g, 0],
];

/** Capitalised for their place, not because they name something. */
const COMMON =
  /^(?:the|an?|this|that|these|those|it|its|if|when|while|after|before|on|in|at|as|for|from|of|to|by|with|and|or|but|so|no|not|yes|please|our|your|you|we|he|she|they|my|his|her|their|here|there|what|which|who|how|why|is|are|was|were|do|does|did|can|could|should|would|will|all|each|every|some|thank|thanks|hello|good|also|then|now|one|two|just|let)\b/i;

/** Whether a sentence says more of what it names than that it is there. */
export function saysMore(sentence: string, named: string): boolean {
  const words = sentence.replace(named, ' ').match(/\p{L}{2,}/gu) ?? [];
  return words.some((word) => !COMMON.test(word));
}

/** Most of a conversation names nothing: it is not worth twenty looks. */
const MAY_NAME =
  /\b[a-f]{7}|[\d_@/\\`"$€£¥#~]|\w\.\w|[a-z][A-Z]|[A-Z]{2}|\w'\w|(?<![.!?:]) \p{Lu}|(?<!\w)'|^\p{Lu}\p{Ll}+ \p{Lu}/mu;

/** The identifiers of a text in their order, each once, spelled as they stand. */
export function identifiersIn(text: string): readonly Identifier[] {
  const scanned = text.slice(0, MOST_SCANNED);
  if (!MAY_NAME.test(scanned)) return [];
  const taken = new Uint8Array(scanned.length);
  const found: { at: number; identifier: Identifier }[] = [];
  for (const [pattern, worth] of PATTERNS) {
    for (const match of scanned.matchAll(pattern)) {
      const spelled = withoutCommon(trimmed(match[0]));
      const at = match.index + match[0].indexOf(spelled);
      if (spelled.length < 2 || spelled.length > LONGEST || isTaken(taken, at, spelled.length)) continue;
      taken.fill(1, at, at + spelled.length);
      found.push({ at, identifier: { text: unquoted(spelled), worth } });
    }
  }
  found.sort((a, b) => a.at - b.at);
  return distinct(found.map(({ identifier }) => identifier));
}

const NAMES_ONE_THING =
  /^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|#?(?=.*\d)[A-Za-z0-9]+(?:[-_.:][A-Za-z0-9]+)*|#\d+)$/;

/** A moment of a log or an event: seldom asked for, and there are many. */
const MOMENT = /^(?:\d{4}-\d{2}-\d{2}[T ])?\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What a short value of a record is worth. */
export function worthOfValue(value: string): Worth {
  if (MOMENT.test(value)) return 1;
  if (/^\d{1,3}$/.test(value) || /^\d+\.\d+$/.test(value)) return /^\d{3}$/.test(value) ? 1 : 0;
  if (DAY.test(value)) return 2;
  if (NAMES_ONE_THING.test(value)) return 3;
  return identifiersIn(value).some(({ worth }) => worth >= 2) ? 2 : 0;
}

function trimmed(text: string): string {
  return text.replace(/[.,;:!?'*_-]+$/, (end) => (text.startsWith(end) ? end : ''));
}

/** `The Harbour Office` names the Harbour Office. */
function withoutCommon(text: string): string {
  if (!/^\p{Lu}\p{Ll}/u.test(text)) return text;
  const rest = COMMON.test(text) ? text.replace(/^\S+\s*/, '') : text;
  return rest === text ? text : withoutCommon(rest);
}

function unquoted(text: string): string {
  return /^(["'`]).*\1$/.test(text) ? text.slice(1, -1) : text;
}

function isTaken(taken: Uint8Array, at: number, length: number): boolean {
  for (let i = at; i < at + length; i += 1) if (taken[i] === 1) return true;
  return false;
}

function distinct(identifiers: readonly Identifier[]): readonly Identifier[] {
  const seen = new Set<string>();
  return identifiers.filter(({ text }) => {
    if (text === '' || seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
