import { isResult } from './borders.js';
import { type Caps, digestLines } from './digest.js';
import { cutAtBorder, withoutDirectives } from './excerpt.js';
import type { CountText } from './ledger-text.js';
import { earlierOf, stepsOf } from './state.js';
import type { StateOrder } from './state-order.js';
import { newestLines } from './transcript.js';

const CAPS: Caps = { user: 60, assistant: 40, result: 30 };
/** What the earlier summary may take of the room. */
const PREVIOUS_SHARE = 0.4;
/** What stood before it, of the rest. */
const EARLY_SHARE = 0.15;

/**
 * The summary where there is no model to write it: what was asked, what was done, what came back last. Of the same
 * shape, within the same bound, and the same for the same input.
 */
export async function extractSummary(
  { early, middle: messages, prior }: Pick<StateOrder, 'early' | 'middle' | 'prior'>,
  mostTokens: number,
  count: CountText,
): Promise<string> {
  const asked = messages.filter(({ role }) => role === 'user');
  const lines = await digestLines(messages, CAPS, count);
  const earlier = cutAtBorder(
    withoutDirectives(bodyOf(prior.summary)),
    Math.floor(mostTokens * PREVIOUS_SHARE),
    count,
  );
  const beginning = newestLines(
    [earlierOf(prior), ...(await digestLines(early, CAPS, count))].filter(Boolean).join('\n'),
    Math.floor(mostTokens * EARLY_SHARE),
    count,
  ).replaceAll('- User:', '- User, at first:');
  // What was asked first may have been replaced since.
  const goal = (await digestLines(asked.slice(0, 1), CAPS, count)).map((line) =>
    line.replace('- User:', '- User, at first:'),
  );
  const state = await digestLines(messages.filter((message) => !isResult(message)).slice(-1), CAPS, count);
  const fixed = [
    earlier === '' ? '' : `## Goal\n${beginning === '' ? '' : `${beginning}\n`}${earlier}`,
    earlier === '' && goal.length > 0 ? `## Goal\n${goal.join('\n')}` : '',
    state.length > 0 ? `## State\n${state.join('\n')}` : '',
  ].filter(Boolean);
  const left = mostTokens - count(fixed.join('\n\n')) - 10;
  const done = newestLines([stepsOf(prior), ...lines].filter(Boolean).join('\n'), Math.max(0, left), count);
  const [first = '', ...others] = fixed;
  return [first, done === '' ? '' : `## Done\n${done}`, ...others].filter(Boolean).join('\n\n');
}

/** So that an extract of an extract does not have the same headings again and again. */
function bodyOf(previous: string): string {
  return previous
    .replace(/^## Goal\n/, '')
    .replaceAll(/^## (.+)$/gm, '$1:')
    .trim();
}
