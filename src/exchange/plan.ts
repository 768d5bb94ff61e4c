import type { CapField } from '../budget/cap-field.js';
import type { Decision } from '../budget/decide.js';
import type { Action, Reason } from '../budget/reason.js';
import type { ObservedAnswer } from '../engines/host/hooks.js';
import type { ComparedCount } from './count-drift.js';

/** What is known of an exchange when its request goes upstream. Token counts; absent where not known. */
export interface PlanFacts {
  /** The model as the request names it. */
  readonly model?: string | undefined;
  /** P of what is sent. */
  readonly promptTokens?: number | undefined;
  /** P of what the client sent. */
  readonly originalPromptTokens?: number | undefined;
  readonly window?: number | undefined;
  readonly contextLength?: number | undefined;
  readonly reserve?: number | undefined;
  readonly decision?: Decision | undefined;
  /** The cap that changed: before as the backend reads it, `null` where there was none. */
  readonly cap?:
    | { readonly field: CapField; readonly before: number | null; readonly after: number }
    | undefined;
  /** The cap that goes upstream. */
  readonly maxTokens?: number | undefined;
  /** The cap that the client asked for. */
  readonly askedTokens?: number | undefined;
  /** The count that the answer's usage is compared with. */
  readonly compared?: ComparedCount | undefined;
}

/** The outcome of everything before forwarding: the bytes to send, and what was done and why. */
export interface Plan {
  readonly bytes: Buffer;
  readonly action: Action;
  readonly reason: Reason;
  /** Where P came from: the backend's source, `rough-fallback`, or `none`. */
  readonly source: string;
  readonly facts: PlanFacts;
  /** The conversation's id, where it is known. */
  readonly conversation?: string | undefined;
  /** Who wants to hear of the answer. */
  readonly visit?: AnswerListener | undefined;
}

/** The context engine's side of an exchange, once its request has gone. */
export interface AnswerListener {
  /** True where the assistant's final messages are wanted. */
  readonly observesTurns: boolean;
  /** After the answer was delivered. `undefined`: there was none worth the name. */
  answered(answer: ObservedAnswer | undefined): void;
}

/** A plan that sends the bytes as they are. */
export function unchanged(bytes: Buffer, reason: Reason, source = 'none', facts: PlanFacts = {}): Plan {
  return { bytes, action: 'unchanged', reason, source, facts };
}

/** @returns the `x-incontext-*` answer headers, flat. */
export function planHeaders(
  plan: Pick<Plan, 'action' | 'reason' | 'source' | 'facts' | 'conversation'>,
): string[] {
  const { facts } = plan;
  const out = [
    'x-incontext-action',
    plan.action,
    'x-incontext-source',
    plan.source,
    'x-incontext-reason',
    plan.reason,
  ];
  const add = (name: string, value: number | undefined) => {
    if (value !== undefined) out.push(`x-incontext-${name}`, String(value));
  };
  add('prompt-tokens', facts.promptTokens);
  add('original-prompt-tokens', facts.originalPromptTokens);
  add('window', facts.window);
  add('context-length', facts.contextLength);
  add('max-tokens', facts.maxTokens);
  if (plan.conversation !== undefined) out.push('x-incontext-conversation', plan.conversation);
  return out;
}

/** @returns the answer of `POST /incontext/explain`. */
export function explanation(plan: Plan): Record<string, unknown> {
  const { facts } = plan;
  const { decision } = facts;
  return {
    action: plan.action,
    reason: plan.reason,
    model: facts.model ?? null,
    prompt_tokens: facts.promptTokens ?? null,
    original_prompt_tokens: facts.originalPromptTokens ?? null,
    source: plan.source,
    context_length: facts.contextLength ?? null,
    window: facts.window ?? null,
    reserve: facts.reserve ?? null,
    required: decision?.required ?? null,
    remaining: decision?.remaining ?? null,
    pressure: decision?.pressure ?? null,
    compress_due: decision?.compressDue ?? false,
    cap: facts.cap ?? null,
  };
}
