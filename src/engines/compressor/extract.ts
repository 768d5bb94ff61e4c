import type { Message } from '../../conversation/message.js';
import { isResult } from './borders.js';
import { type Caps, digestLines } from './digest.js';
import { cutAtBorder, withoutDirectives } from './excerpt.js';
import type { CountText } from './ledger-text.js';
import { newestLines } from './transcript.js';

const CAPS: Caps = { user: 60, assistant: 40, result: 30 };
/** What the earlier summary may take of the room. */
const PREVIOUS_SHARE = 0.4;

/**
 * The summary where there is no model to write it: what was asked, what was done, what came back last. Of the same
 * shape, within the same bound, and the same for the same input.
 */
export async function extractSummary(
  messages: readonly Message[],
  previous: string,
  since: string,
  mostTokens: number,
  count: CountText,
): Promise<string> {
  const asked = messages.filter(({ role }) => role === 'user');
  const lines = await digestLines(messages, CAPS, count);
  const earlier = cutAtBorder(
    withoutDirectives(bodyOf(previous)),
    Math.floor(mostTokens * PREVIOUS_SHARE),
    count,
  );
  // What was asked first may have been replaced since.
  const goal = (await digestLines(asked.slice(0, 1), CAPS, count)).map((line) =>
    line.replace('- User:', '- User, at first:'),
  );
  const state = await digestLines(messages.filter((message) => !isResult(message)).slice(-1), CAPS, count);
  const fixed = [
    earlier === '' ? '' : `## Goal\n${earlier}`,
    earlier === '' && goal.length > 0 ? `## Goal\n${goal.join('\n')}` : '',
    state.length > 0 ? `## State\n${state.join('\n')}` : '',
  ].filter(Boolean);
  const left = mostTokens - count(fixed.join('\n\n')) - 10;
  const done = newestLines([since, ...lines].filter(Boolean).join('\n'), Math.max(0, left), count);
  const [first = '', ...others] = fixed;
  return [first, done === '' ? '' : `## Done\n${done}`, ...others].filter(Boolean).join('\n\n');
}

/** So that an extract of an extract does not begin with the same heading again and again. */
function bodyOf(previous: string): string {
  return previous.replace(/^## Goal\n/, '').trim();
}
