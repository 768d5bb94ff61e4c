import { Random } from './random.js';
import type { Recording } from './recording.js';
import type { TokenMeter } from './tokens.js';

export const SUMMARISERS = ['good', 'amnesic', 'lossy'] as const;
export type SummariserKind = (typeof SUMMARISERS)[number];

export interface Summary {
  readonly text: string;
  readonly finish: 'stop' | 'length';
}

/** Answers what an engine asks on its own, in at most so many tokens. */
export type Summariser = (prompt: string, maxTokens: number) => Promise<Summary>;

/** Of what is worth repeating, how much a lossy summariser forgets in each call. */
const LOSS = 0.1;
const IDS_IN_A_LINE = 8;

const PROSE = [
  'The user moves services to a new place and asks for short answers.',
  'Several services were looked at and their limits compared.',
  'Logs were searched, and what was slow was named.',
  'The order of the next steps was agreed upon.',
  'Nothing in production was changed without being asked.',
  'Two results were long; only what mattered in them is kept here.',
  'What was corrected later replaces what was said before.',
  'The work goes on with the newest request of the user.',
];

/** `good` repeats what it is shown and knows to matter, `lossy` loses some of it, `amnesic` writes headings only. */
export function scriptedSummariser(
  kind: SummariserKind,
  recording: Recording,
  meter: TokenMeter,
  seed = 11,
): Summariser {
  const random = new Random(seed);
  const keep = (items: readonly string[]): readonly string[] =>
    kind === 'lossy' ? items.filter(() => !random.chance(LOSS)) : items;
  return async (prompt, maxTokens) => {
    if (kind === 'amnesic') return fitted([], [], maxTokens, meter);
    const seen = plain(prompt);
    const facts = keep(factsIn(seen, recording));
    const ids = keep(recording.ids.filter((id) => seen.includes(id)));
    return fitted([...facts.map((fact) => `- ${fact}`), ...idLines(ids)], PROSE, maxTokens, meter);
  };
}

/** Without escapes and line breaks, so that a quoted sentence is still the sentence. */
function plain(prompt: string): string {
  return prompt.replace(/\\+n/g, ' ').replaceAll('\\', '').replace(/\s+/g, ' ');
}

function factsIn(seen: string, { facts }: Recording): string[] {
  return facts.flatMap(({ sentence, outdated }) => {
    if (seen.includes(sentence)) return [sentence];
    return outdated !== undefined && seen.includes(outdated.sentence) ? [outdated.sentence] : [];
  });
}

function idLines(ids: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < ids.length; at += IDS_IN_A_LINE) {
    lines.push(`- Records: ${ids.slice(at, at + IDS_IN_A_LINE).join(', ')}`);
  }
  return lines;
}

/** Leaves out prose first; what is still too long breaks off. */
async function fitted(
  items: readonly string[],
  prose: readonly string[],
  maxTokens: number,
  meter: TokenMeter,
): Promise<Summary> {
  for (let kept = prose.length; kept >= 0; kept -= 1) {
    const text = written(items, prose.slice(0, kept));
    if ((await meter.text(text)) < maxTokens) return { text, finish: 'stop' };
  }
  const lines = written(items, []).split('\n');
  while (lines.length > 1 && (await meter.text(lines.join('\n'))) > maxTokens) lines.pop();
  return { text: lines.join('\n'), finish: 'length' };
}

function written(items: readonly string[], prose: readonly string[]): string {
  return [
    '## Goal',
    ...prose.slice(0, 1),
    '## Completed Actions',
    ...prose.slice(1, 4).map((one) => `- ${one}`),
    '## Key Decisions',
    ...prose.slice(4, 7).map((one) => `- ${one}`),
    '## Critical Context',
    ...items,
    '## Remaining Work',
    ...prose.slice(7),
  ].join('\n');
}
