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
  | { readonly kind: 'set'; readonly field: CapField; readonly value: number; readonly drop: readonly CapField[] }
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

export declare function decide(input: BudgetInput): Decision;
