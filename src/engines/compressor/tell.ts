import type { CompressOptions } from '../contract.js';
import { factsOf } from './digest.js';
import { addToLedger } from './ledger.js';
import { ledgerText } from './ledger-text.js';
import type { PassEnvironment } from './pass.js';
import { sizesOf, total } from './room.js';
import { saidLedger } from './shown-ledger.js';
import { earlierOf, stepsOf } from './state.js';
import { goingIn, type StateOrder } from './state-order.js';
import { type Summarised, summarise } from './summarise.js';
import { inParts, transcriptText } from './transcript.js';

const MOST_CALLS = 3;
/** What people said exactly may take of what the model is shown. */
const SAID_SHARE = 0.3;
/** What stood before the earlier summary may take of it. */
const EARLY_SHARE = 0.2;

/**
 * The model's text over the earlier summary and the middle, in several calls where that is much longer than what it is
 * shown at once.
 * @param before P of the view.
 * @throws CompletionError in an outage.
 */
export async function tell(
  stateOrder: StateOrder,
  before: number,
  env: PassEnvironment,
  options: CompressOptions,
): Promise<Summarised> {
  const { prior, early, middle, room, count } = stateOrder;
  const size = total(sizesOf(middle, env.services));
  const calls = Math.min(MOST_CALLS, Math.max(1, Math.ceil(size / (4 * room.inputTokens))));
  let previous = prior.summary;
  let since = stepsOf(prior);
  let beginning = [
    earlierOf(prior),
    await transcriptText(early, Math.floor(room.inputTokens * EARLY_SHARE), count, options.signal),
  ]
    .filter(Boolean)
    .join('\n');
  const facts = saidSoFar(stateOrder, Math.floor(room.inputTokens * SAID_SHARE));
  for (const part of middle.length === 0 ? [[]] : inParts(middle, calls)) {
    const left = Math.max(
      256,
      room.inputTokens - count(beginning) - count(previous) - count(since) - count(facts),
    );
    const transcript = await transcriptText(part, left, count, options.signal);
    const order = {
      beginning,
      previous,
      since,
      facts,
      transcript,
      focus: options.focusTopic,
      mostTokens: room.summaryTokens,
    };
    const told = await asked(order, before, env, options.signal);
    if (told.kind === 'failed') return told;
    previous = told.text;
    since = '';
    beginning = '';
  }
  return { kind: 'summary', text: previous };
}

/** Named by people, and not in the earlier summary: every part is shown it, for any could be where it is lost. */
function saidSoFar(order: StateOrder, mostTokens: number): string {
  const { prior, count } = order;
  const ledger = addToLedger(prior.ledger, factsOf(goingIn(order)));
  return ledgerText(saidLedger(ledger, prior.summary, mostTokens, count));
}

async function asked(
  order: Parameters<typeof summarise>[0],
  before: number,
  { services, settings, contextLength }: PassEnvironment,
  signal: AbortSignal | undefined,
): Promise<Summarised> {
  try {
    return await summarise(order, services, settings.summary_timeout_seconds * 1000, signal);
  } catch (error) {
    signal?.throwIfAborted();
    // An outage destroys nothing, unless nothing else could be served.
    if (contextLength > 0 && before >= contextLength - 1) return { kind: 'failed' };
    throw error;
  }
}
