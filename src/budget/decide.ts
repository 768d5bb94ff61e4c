import type { CapField } from './cap-field.js';
import type { Reason } from './reason.js';

/** One cap member of the request, as the backend reads its last value. */
export interface CallerCap {
  readonly field: CapField;
  /** The positive integer the backend reads from the raw JSON text; `undefined`: as if the member were absent. */
  readonly tokens: number | undefined;
  /** The raw JSON text of the last value, as sent. */
  readonly text: string;
}

/** Everything `decide()` looks at. Token counts throughout. */
export interface BudgetInput {
  /** W, the compression window. */
  readonly window: number;
  /** P: the exact count, or estimate + F. */
  readonly promptTokens: number;
  /** R, already lowered by an operator-wide cap. */
  readonly reserve: number;
  /** The cap members that the request has, in the order of `CAP_FIELDS`. */
  readonly caps: readonly CallerCap[];
  /** The operator-wide cap; it counts in B. */
  readonly operatorCap?: number | undefined;
  /** The request's `min_tokens`, or what else it allows no cap below: required is at least this. */
  readonly minTokens?: number | undefined;
  /** The backend's own constraint on the output, where it has one. */
  readonly limit?: number | undefined;
  /** Under which field a cap held by `field` has to go out on this backend. */
  readonly outputField?: (field: CapField) => CapField;
}

export type CapDecision =
  | { readonly kind: 'keep' }
  | {
      readonly kind: 'set';
      readonly field: CapField;
      readonly value: number;
      readonly drop: readonly CapField[];
    }
  | { readonly kind: 'unviable' };

export interface Decision {
  /** pressure >= W, that is exactly when W - P < required. */
  readonly compressDue: boolean;
  readonly cap: CapDecision;
  readonly reason: Reason;
  /** min(R, B), or R without B; at least `min_tokens`. */
  readonly required: number;
  /** W - P, which may be negative. */
  readonly remaining: number;
  /** P + required - 1. */
  readonly pressure: number;
}

/** True where the window has room for `required`: no compression is due, and a cap may go out. */
export function hasRoom(input: BudgetInput): boolean {
  return input.window - input.promptTokens >= requiredTokens(input, callerCap(input));
}

/**
 * Decides whether compression is due, and which output cap goes out (design, section 5). The two are
 * independent of each other. A cap that is set is never below `required`, nor above W - P, B or the limit.
 * `outputField` is called only where a cap is viable; what it throws passes through.
 */
export function decide(input: BudgetInput): Decision {
  const asked = callerCap(input);
  const required = requiredTokens(input, asked);
  const remaining = input.window - input.promptTokens;
  const pressure = input.promptTokens + required - 1;
  const decision = (cap: CapDecision, reason: Reason): Decision => ({
    compressDue: remaining < required,
    cap,
    reason,
    required,
    remaining,
    pressure,
  });
  if (remaining < required) return decision(UNVIABLE, 'requires_compression');
  const limit = input.limit ?? Infinity;
  if (limit < required) return decision(UNVIABLE, 'backend_limit');
  // A cap below the request's own min_tokens contradicts it: the upstream judges that, no edit of ours.
  if (asked < required) return decision(KEEP, 'fits');
  const value = Math.min(remaining, asked, limit);
  const cap = placeCap(input, value);
  return decision(cap, cap.kind === 'set' ? reasonToSet(input.caps, value) : 'fits');
}

const KEEP: CapDecision = { kind: 'keep' };
const UNVIABLE: CapDecision = { kind: 'unviable' };

/** B in tokens, infinite without one. */
function callerCap({ caps, operatorCap }: BudgetInput): number {
  return Math.min(smallestPositive(caps)?.tokens ?? Infinity, operatorCap ?? Infinity);
}

function requiredTokens({ reserve, minTokens }: BudgetInput, asked: number): number {
  return Math.max(Math.min(reserve, asked), minTokens ?? 0);
}

function placeCap({ caps, outputField }: BudgetInput, value: number): CapDecision {
  const held = smallestPositive(caps)?.field ?? 'max_tokens';
  const field = outputField?.(held) ?? held;
  const only = caps[0];
  if (caps.length === 1 && only?.field === field && only.text === String(value)) return KEEP;
  const drop: CapField[] = [];
  for (const cap of caps) if (cap.field !== field) drop.push(cap.field);
  return { kind: 'set', field, value, drop };
}

function reasonToSet(caps: readonly CallerCap[], value: number): Reason {
  const smallest = smallestPositive(caps)?.tokens;
  if (smallest === undefined) return 'cap_inserted';
  if (value < smallest) return 'cap_lowered';
  return caps.length > 1 ? 'cap_merged' : 'cap_respelled';
}

/** The first of the smallest: ties go to the field that comes first. */
export function smallestPositive(caps: readonly CallerCap[]): CallerCap | undefined {
  let smallest: CallerCap | undefined;
  for (const cap of caps) {
    if (cap.tokens !== undefined && cap.tokens < (smallest?.tokens ?? Infinity)) smallest = cap;
  }
  return smallest;
}
