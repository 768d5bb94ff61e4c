import type { CompletionError, EngineServices } from '../services.js';
import { cutAtBorder } from './excerpt.js';
import { HEADINGS, type SummaryOrder, summaryPrompt } from './prompt.js';

/** Every call leaves at least as much time as it may take. */
const SHARE_OF_TIME_LEFT = 0.5;
const REFUSAL =
  /^\W*(?:i['’]?m (?:sorry|unable)|i am (?:sorry|unable)|sorry|i can(?:not|['’]t)|as an ai\b|unfortunately)/i;
const SHORTEST = 12;

export type Summarised =
  | { readonly kind: 'summary'; readonly text: string }
  /** No text that could stand for the conversation: the extract takes its place. */
  | { readonly kind: 'failed' };

/**
 * Asks the model for a summary.
 * @throws CompletionError of an outage or a refused credential; and when `signal` aborts
 */
export async function summarise(
  order: SummaryOrder,
  services: EngineServices,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Summarised> {
  const prompt = summaryPrompt(order);
  const most = Math.min(timeoutMs, services.remainingMs() * SHARE_OF_TIME_LEFT);
  const answer = await answerWithin(most, signal, (limit) =>
    services.complete([prompt], { maxTokens: order.mostTokens, signal: limit }),
  );
  if (answer === undefined) return { kind: 'failed' };
  const text = usable(answer.text);
  const inputTokens = services.estimateTokens(`${order.previous}\n${order.since}\n${order.transcript}`);
  if (text === undefined || services.estimateTokens(text) > inputTokens) return { kind: 'failed' };
  return {
    kind: 'summary',
    text: cutAtBorder(text, order.mostTokens, (part) => services.estimateTokens(part)),
  };
}

/** `undefined` where the call failed or took too long: the time that is left belongs to the extract. */
async function answerWithin<T>(
  mostMs: number,
  signal: AbortSignal | undefined,
  call: (limit: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  let stop = () => {};
  const tooLong = new Promise<undefined>((resolve) => {
    stop = () => {
      limit.abort();
      resolve(undefined);
    };
  });
  const timer = Number.isFinite(mostMs) ? setTimeout(stop, Math.max(0, mostMs)) : undefined;
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([call(limit.signal), tooLong]);
  } catch (error) {
    if (isOutage(error) && !limit.signal.aborted) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    signal?.throwIfAborted();
  }
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'CompletionError' &&
    (error as CompletionError).failure !== 'failed'
  );
}

/** Without thoughts and fences; `undefined` where nothing of use is left. */
function usable(answer: string): string | undefined {
  const text = answer
    .replace(/<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/gi, '')
    .replace(/^[\s\S]*<\/think(?:ing)?>/i, '')
    .trim()
    .replace(/^```\w*\n([\s\S]*?)\n?```$/, '$1')
    .trim();
  const hasHeading = HEADINGS.some((heading) => text.includes(`## ${heading}`));
  if (text.length < SHORTEST || (!hasHeading && REFUSAL.test(text))) return undefined;
  return /[\p{L}\p{N}]{2}/u.test(text) ? text : undefined;
}
