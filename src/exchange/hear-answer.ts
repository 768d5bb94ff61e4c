import type { Message } from '../conversation/message.js';
import type { ObservedAnswer } from '../engines/host/hooks.js';
import { AnswerObserver } from '../stream/answer-observer.js';
import { finalMessage } from '../stream/final-message.js';
import type { RelayEnd } from '../stream/relay.js';
import type { Plan } from './plan.js';

/** Reads along with an answer for the context engine; `undefined` where none wants to know. */
export function answerObserver({ visit }: Plan): AnswerObserver | undefined {
  return visit && new AnswerObserver(visit.observesTurns);
}

/** Tells the engine of an answer that was delivered whole. */
export function hearAnswer(plan: Plan, observer: AnswerObserver | undefined, end: RelayEnd): void {
  const { visit, facts } = plan;
  if (visit === undefined || observer === undefined) return;
  const isWhole = end.outcome === 'complete' && end.status === 200;
  visit.answered(isWhole ? observed(observer, facts.promptTokens ?? 0) : undefined);
}

function observed(observer: AnswerObserver, promptTokens: number): ObservedAnswer {
  const completion = observer.streamedTokens;
  const counted = {
    prompt_tokens: promptTokens,
    completion_tokens: completion,
    total_tokens: promptTokens + completion,
  };
  return { usage: { ...(observer.usage ?? counted) }, message: messageOf(observer) };
}

function messageOf({ text }: AnswerObserver): Message | undefined {
  const message = text === undefined ? undefined : finalMessage(text);
  return message && { ...message };
}
