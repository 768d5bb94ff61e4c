import { setMaxListeners } from 'node:events';
import { checkResult } from '../../conversation/check-result.js';
import type { Message } from '../../conversation/message.js';
import { type Settled, settle } from '../../conversation/settle.js';
import { renderRequest, type ViewRow, viewMessages } from '../../conversation/view.js';
import { estimateTokens } from '../../estimate/estimate.js';
import { IrreducibleError } from '../contract.js';
import { othersTurn } from '../turns.js';
import type { EngineInstance } from './engine-instance.js';
import type { ExchangeBudget, ExchangeLink } from './exchange-link.js';
import { unlessAborted } from './shared-pass.js';

export const MOST_PASSES = 3;

export interface CompressionOrder {
  readonly link: ExchangeLink;
  readonly budget: ExchangeBudget;
  readonly rows: readonly ViewRow[];
  /** P to get down to. */
  readonly targetTokens: number;
  readonly focusTopic: string | undefined;
  readonly force: boolean;
  /** The view begins with a pass that was made early: the engine only adds what came since. */
  readonly catchesUp: boolean;
  /** Aborts with the exchange. */
  readonly signal: AbortSignal;
  /** In the time of `performance.now()`. */
  readonly deadlineAt: number;
  readonly mintUid: () => string;
  readonly onHeadChanged: () => void;
  /** Why an engine's work was refused or broke off, for the warning. */
  readonly onFailure: (failure: PassFailure, error: unknown) => void;
  /** The instance did not end with its pass, or missed its deadline: nobody may listen to it any more. */
  readonly onRunaway: (instance: EngineInstance | undefined) => void;
}

export type PassFailure = 'irreducible' | 'compression_failed' | 'compression_timeout';

/** What stands for the first messages of a request. */
export interface Compressed {
  readonly kind: 'compressed';
  /** Without the head. */
  readonly checkpointRows: readonly ViewRow[];
  /** How many of the client's messages they stand for, the head not counted. */
  readonly messages: number;
  /** P of the view as it was, and as it is now. */
  readonly tokensBefore: number;
  readonly promptTokens: number;
  /** What the engine wrote: JSON text by key. */
  readonly writes: ReadonlyMap<string, string>;
}

export type CompressionOutcome = Compressed | { readonly kind: 'failed'; readonly reason: PassFailure };

/**
 * Has the engine shorten a view, pass after pass while it helps, down to the target. Every result is checked, and
 * counted exactly. Rejects only when the signal aborts.
 */
export async function compressView(
  order: CompressionOrder,
  instanceOf: () => Promise<EngineInstance>,
): Promise<CompressionOutcome> {
  const deadline = new AbortController();
  const timer = deadlineTimer(order.deadlineAt, deadline);
  const signal = AbortSignal.any([order.signal, deadline.signal]);
  // An engine may ask its services for as much at once as it likes; each call takes its listener away again.
  setMaxListeners(0, signal);
  try {
    const instance = await madeInTime(order, instanceOf, signal);
    return await passes(order, instance, signal);
  } catch (error) {
    order.signal.throwIfAborted();
    const reason = failureOf(error, deadline.signal);
    order.onFailure(reason, error);
    return { kind: 'failed', reason };
  } finally {
    clearTimeout(timer);
  }
}

async function madeInTime(
  { onRunaway }: CompressionOrder,
  instanceOf: () => Promise<EngineInstance>,
  signal: AbortSignal,
): Promise<EngineInstance> {
  const made = instanceOf();
  try {
    return await unlessAborted(made, signal);
  } catch (error) {
    if (signal.aborted) onRunaway(undefined);
    throw error;
  }
}

interface View {
  readonly rows: readonly ViewRow[];
  readonly promptTokens: number;
  readonly writes: ReadonlyMap<string, string>;
}

async function passes(
  order: CompressionOrder,
  instance: EngineInstance,
  signal: AbortSignal,
): Promise<CompressionOutcome> {
  const tokensBefore = await viewTokens(order, signal);
  let view: View = { rows: order.rows, promptTokens: tokensBefore, writes: new Map() };
  let best: Compressed | undefined;
  const most = order.catchesUp ? 1 : MOST_PASSES;
  for (let pass = 0; pass < most; pass += 1) {
    try {
      const { settled, promptTokens, writes } = await onePass(order, view, instance, signal);
      const { checkpointRows, messages, rows } = settled;
      if (promptTokens >= view.promptTokens || messages === 0) break;
      best = { kind: 'compressed', checkpointRows, messages, tokensBefore, promptTokens, writes };
      view = { rows, promptTokens, writes };
    } catch (error) {
      order.signal.throwIfAborted();
      if (best === undefined) throw error;
      return best;
    }
    if (best.promptTokens <= order.targetTokens) return best;
  }
  if (best !== undefined) return best;
  throw new IrreducibleError('the result is not smaller than what went in');
}

async function viewTokens({ link, rows, budget }: CompressionOrder, signal: AbortSignal): Promise<number> {
  if (!budget.isSelection) return budget.promptTokens;
  return await link.count(link.read(renderRequest(link.request, rows)), signal, false);
}

interface PassResult {
  readonly settled: Settled;
  readonly promptTokens: number;
  readonly writes: ReadonlyMap<string, string>;
}

async function onePass(
  order: CompressionOrder,
  view: View,
  instance: EngineInstance,
  signal: AbortSignal,
): Promise<PassResult> {
  const { link, targetTokens } = order;
  await othersTurn(signal);
  const snapshot = viewMessages(view.rows);
  const writes = new Map(view.writes);
  const output = await lent(order, instance, { signal, writes }, () =>
    shorten(order, view, instance, signal),
  );
  await othersTurn(signal);
  const turnMayShrink = () => isTurnTooBig(snapshot, view.promptTokens, targetTokens);
  const problem = checkResult(snapshot, output, { turnMayShrink });
  if (problem !== undefined) throw new InvalidResultError(problem);
  await othersTurn(signal);
  const settled = settle(view.rows, snapshot, output as Message[], order.mintUid);
  if (settled.headChanged) order.onHeadChanged();
  await othersTurn(signal);
  const rendered = link.read(renderRequest(link.request, settled.rows));
  return { settled, promptTokens: await link.count(rendered, signal, order.budget.isExact), writes };
}

async function shorten(
  { targetTokens, focusTopic, force, catchesUp }: CompressionOrder,
  { rows, promptTokens }: View,
  { engine }: EngineInstance,
  signal: AbortSignal,
): Promise<unknown> {
  if (!force && !engine.hasContentToCompress(viewMessages(rows))) {
    throw new IrreducibleError('nothing to compress');
  }
  await othersTurn(signal);
  const options = { currentTokens: promptTokens, targetTokens, focusTopic, force, signal };
  if (catchesUp) {
    const result = await engine.catchUp(viewMessages(rows), options);
    if (result === undefined) throw new IrreducibleError('nothing to add');
    return result;
  }
  return await engine.compress(viewMessages(rows), options);
}

/** The engine's work, with the services lent to it for so long. */
async function lent(
  { link, deadlineAt, onRunaway, signal: exchange }: CompressionOrder,
  instance: EngineInstance,
  { signal, writes }: { readonly signal: AbortSignal; readonly writes: Map<string, string> },
  call: () => Promise<unknown>,
): Promise<unknown> {
  signal.throwIfAborted();
  instance.services.lend({ link, signal, deadlineAt, writes });
  let isOver = false;
  const work = call().finally(() => {
    isOver = true;
  });
  try {
    return await unlessAborted(work, signal);
  } catch (error) {
    // One that ends with its signal needs a moment for it.
    if (signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    if (!isOver || (signal.aborted && !exchange.aborted)) onRunaway(instance);
    throw error;
  } finally {
    instance.services.takeBack();
  }
}

/** An engine's result that is no valid replacement of what it was given; `message` is one of our codes. */
export class InvalidResultError extends Error {
  override readonly name = 'InvalidResultError';
}

/** True where head and last turn alone leave no room below the target for anything else. */
function isTurnTooBig(messages: readonly Message[], promptTokens: number, target: number): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const all = estimateTokens({ messages });
  const turn = estimateTokens({ messages: messages.slice(Math.max(0, last)) });
  const others = Math.max(0, all - turn);
  return promptTokens - (others / all) * promptTokens > target / 2;
}

function failureOf(error: unknown, deadline: AbortSignal): PassFailure {
  if (deadline.aborted) return 'compression_timeout';
  return error instanceof Error && error.name === 'IrreducibleError' ? 'irreducible' : 'compression_failed';
}

function deadlineTimer(deadlineAt: number, controller: AbortController): NodeJS.Timeout | undefined {
  if (deadlineAt === Number.POSITIVE_INFINITY) return undefined;
  return setTimeout(
    () => controller.abort(new Error('deadline')),
    Math.max(0, deadlineAt - performance.now()),
  );
}
