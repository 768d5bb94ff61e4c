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
  /** The request's `min_tokens`: required is at least this. */
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

/**
 * Decides whether compression is due, and which output cap goes out (design, section 5). The two are
 * independent of each other. A cap that is set is never below `required`, nor above W - P, B or the limit.
 * `outputField` is called only where a cap is viable; what it throws passes through.
 */
export function decide(input: BudgetInput): Decision {
  const smallest = smallestPositive(input.caps);
  const callerCap = Math.min(smallest?.tokens ?? Infinity, input.operatorCap ?? Infinity);
  const required = Math.max(Math.min(input.reserve, callerCap), input.minTokens ?? 0);
  const remaining = input.window - input.promptTokens;
  const limit = input.limit ?? Infinity;
  const numbers = { required, remaining, pressure: input.promptTokens + required - 1 };

  if (remaining < required) {
    return { ...numbers, compressDue: true, cap: { kind: 'unviable' }, reason: 'requires_compression' };
  }
  if (limit < required) {
    return { ...numbers, compressDue: false, cap: { kind: 'unviable' }, reason: 'backend_limit' };
  }
  // A cap below the request's own min_tokens contradicts it: the upstream judges that, no edit of ours.
  if (callerCap < required) return { ...numbers, compressDue: false, ...KEEP };
  return {
    ...numbers,
    compressDue: false,
    ...placeCap(input, smallest, Math.min(remaining, callerCap, limit)),
  };
}

const KEEP = { cap: { kind: 'keep' }, reason: 'fits' } as const satisfies Pick<Decision, 'cap' | 'reason'>;

function placeCap(
  { caps, outputField }: BudgetInput,
  smallest: CallerCap | undefined,
  value: number,
): Pick<Decision, 'cap' | 'reason'> {
  const held = smallest?.field ?? 'max_tokens';
  const field = outputField?.(held) ?? held;
  const [only, ...others] = caps;
  if (only?.field === field && only.text === String(value) && others.length === 0) return KEEP;
  const drop = caps.map((cap) => cap.field).filter((name) => name !== field);
  return { cap: { kind: 'set', field, value, drop }, reason: reasonToSet(caps, smallest, value) };
}

function reasonToSet(caps: readonly CallerCap[], smallest: CallerCap | undefined, value: number): Reason {
  if (smallest?.tokens === undefined) return 'cap_inserted';
  if (value < smallest.tokens) return 'cap_lowered';
  return caps.length > 1 ? 'cap_merged' : 'cap_respelled';
}

/** The first of the smallest: ties go to the field that comes first. */
function smallestPositive(caps: readonly CallerCap[]): CallerCap | undefined {
  let smallest: CallerCap | undefined;
  for (const cap of caps) {
    if (cap.tokens !== undefined && cap.tokens < (smallest?.tokens ?? Infinity)) smallest = cap;
  }
  return smallest;
}
