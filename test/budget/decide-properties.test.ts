import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalCap } from '../../src/budget/canonical-cap.js';
import { CAP_FIELDS, type CapField } from '../../src/budget/cap-field.js';
import { type BudgetInput, type CallerCap, type Decision, decide } from '../../src/budget/decide.js';

const cap = (field: CapField, text: string): CallerCap => ({ field, text, tokens: canonicalCap(text) });

/** The value that goes out, or stays. */
function sent({ cap: decided }: Decision, caps: readonly CallerCap[]): number | undefined {
  return decided.kind === 'set' ? decided.value : caps[0]?.tokens;
}

describe('any decision', () => {
  const tokens = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 300_000 }));
  const capText = fc.oneof(tokens.map(String), fc.constantFrom('0', '-1', 'null', '"5"', '2.0'));
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const lax = (text: string) => (text === '"5"' ? 5 : text === '2.0' ? 2 : canonicalCap(text));
  const caps = fc.tuple(optional(capText), optional(capText), optional(capText)).map((texts) =>
    CAP_FIELDS.flatMap((field, i) => {
      const text = texts[i];
      return text === undefined ? [] : [{ field, text, tokens: lax(text) }];
    }),
  );
  const inputs: fc.Arbitrary<BudgetInput> = fc.record({
    window: tokens,
    promptTokens: fc.oneof(tokens, fc.constant(0)),
    reserve: tokens,
    caps,
    operatorCap: optional(tokens),
    minTokens: optional(tokens),
    limit: optional(fc.oneof(tokens, fc.integer({ min: -5, max: 0 }))),
    outputField: fc.constantFrom(
      (field: CapField) => field,
      (field: CapField): CapField => (field === 'max_output_tokens' ? 'max_tokens' : field),
    ),
  });
  const positive = (input: BudgetInput) => input.caps.flatMap((member) => member.tokens ?? []);
  const everyInput = (check: (input: BudgetInput, decision: Decision) => void) =>
    fc.assert(
      fc.property(inputs, (input) => check(input, decide(input))),
      { numRuns: 5000 },
    );

  it('never emits less than required, nor more than remains, than B, than the limit', () => {
    everyInput((input, { cap: decided, required, remaining }) => {
      if (decided.kind !== 'set') return;
      expect(decided.value).toBeGreaterThanOrEqual(Math.max(1, required));
      const bounds = [remaining, input.limit ?? Infinity, input.operatorCap ?? Infinity, ...positive(input)];
      expect(decided.value).toBe(Math.min(...bounds));
    });
  });

  it('emits a cap, or finds it there, exactly where one is viable', () => {
    everyInput((input, decision) => {
      const { required, remaining } = decision;
      const contradiction = Math.min(input.operatorCap ?? Infinity, ...positive(input)) < required;
      const viable = remaining >= required && (input.limit ?? Infinity) >= required;
      expect(decision.cap.kind === 'unviable').toBe(!viable);
      if (!viable || contradiction) return;
      expect(sent(decision, input.caps)).toBeGreaterThanOrEqual(required);
      if (decision.cap.kind === 'keep') expect(input.caps).toHaveLength(1);
    });
  });

  it('asks for compression exactly when W - P < required, which is pressure >= W', () => {
    everyInput((input, { compressDue, required, pressure, remaining }) => {
      expect(compressDue).toBe(input.window - input.promptTokens < required);
      expect(compressDue).toBe(pressure >= input.window);
      expect(remaining).toBe(input.window - input.promptTokens);
      const caller = Math.min(input.reserve, input.operatorCap ?? Infinity, ...positive(input));
      expect(required).toBe(Math.max(caller, input.minTokens ?? 0));
    });
  });

  it('leaves exactly one cap, and finds it right when asked again', () => {
    everyInput((input, { cap: decided }) => {
      if (decided.kind !== 'set') return;
      const kept = input.caps.filter(({ field }) => field !== decided.field && !decided.drop.includes(field));
      expect(kept).toEqual([]);
      const again = decide({ ...input, caps: [cap(decided.field, String(decided.value))] });
      expect(again.cap).toEqual({ kind: 'keep' });
      expect(again.reason).toBe('fits');
    });
  });
});
