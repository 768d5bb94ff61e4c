import { describe, expect, it } from 'vitest';
import type { Backend } from '../../src/backends/contract.js';
import { editObject } from '../../src/body/edit-object.js';
import { valueKind } from '../../src/body/members.js';
import { RawObject } from '../../src/body/raw-object.js';
import { canonicalCap } from '../../src/budget/canonical-cap.js';
import { CAP_FIELDS } from '../../src/budget/cap-field.js';
import { type BudgetInput, type CallerCap, type Decision, decide } from '../../src/budget/decide.js';
import { effectiveReserve, estimatedPrompt } from '../../src/budget/window.js';
import { type BackendCase, type CounterCase, strictBackend, vllmBackend } from './vector-backend.js';
import { readCases, type VectorCase } from './vector-cases.js';

interface Input {
  readonly fn: 'middleware' | 'compute_max_tokens';
  readonly settings: {
    readonly W: number;
    readonly R: number;
    readonly F: number;
    readonly context_length: number;
  };
  readonly counter: CounterCase;
  readonly rough: { readonly tokens?: number | string; readonly fails?: boolean } | null;
  readonly backend: BackendCase;
}

interface Expected {
  readonly action: 'rewritten' | 'unchanged';
  readonly reason?: string;
  readonly field?: string;
  readonly value?: number;
  readonly prompt_tokens?: number;
  readonly request?: unknown;
  readonly fell_back: boolean;
}

interface Outcome {
  readonly body: Buffer;
  readonly reason: string;
  readonly decision?: Decision;
}

type Case = VectorCase<Input, Expected>;

const cases = readCases<Input, Expected>('budget.json');
const middleware = cases.filter(({ input }) => input.fn === 'middleware');
const named = (names: readonly Case[]) => names.map((vector) => [vector.name, vector] as const);

/** Here the upstream's first model is meant. */
const MODEL_MISSING = 'model missing';
/** Stricter than needed: the server renders the prompt all the same, so that it is counted. */
const COUNTED_HERE = 'tool_choice required falls back';

describe('the golden output budgets', () => {
  it('are all here', () => {
    expect(cases).toHaveLength(805);
    expect(middleware).toHaveLength(647);
  });

  it.each(named(middleware.filter(({ input }) => input.backend.kind === 'strict')))(
    'strict: %s',
    async (_, vector) => {
      const { input } = vector;
      const outcome = await run(vector, strictBackend(input.backend, input.counter));
      if (vector.name === MODEL_MISSING) expect(outcome.decision?.cap).toMatchObject({ value: 55_695 });
      else check(vector, outcome);
    },
  );

  it.each(named(middleware.filter(({ input }) => input.backend.kind === 'vllm')))(
    'vllm: %s',
    async (_, vector) => {
      const { counter, settings } = vector.input;
      const { backend, close } = await vllmBackend(counter, settings.context_length);
      try {
        const outcome = await run(vector, backend);
        if (vector.name === COUNTED_HERE) expect(outcome.decision?.cap).toMatchObject({ value: 5705 });
        else check(vector, outcome);
      } finally {
        await close();
      }
    },
  );
});

interface ComputeInput {
  readonly fn: string;
  readonly W: number;
  readonly P: number;
  readonly F: number;
  readonly R: number;
}

describe('the golden sums without a request', () => {
  const sums = readCases<ComputeInput, { value?: number | null; error?: string }>('budget.json').filter(
    ({ input }) => input.fn === 'compute_max_tokens',
  );

  it.each(sums.map((sum) => [sum.name, sum] as const))('%s', (_, { input, expected }) => {
    const { W: window, P, F, R } = input;
    const decided = () =>
      // The margin is added to the prompt as it is: these prompts may be empty.
      decide({
        window,
        promptTokens: P + estimatedPrompt(1, F) - 1,
        reserve: effectiveReserve(R, undefined),
        caps: [],
      });
    if (expected.error !== undefined) expect(decided).toThrow(RangeError);
    else
      expect(decided().cap.kind === 'set' ? decided().cap : { value: null }).toMatchObject({
        value: expected.value,
      });
  });
});

function check({ name, expected, raw }: Case, { body, reason, decision }: Outcome): void {
  const request = raw('request');
  if (expected.action === 'unchanged') {
    expect(body).toEqual(request);
    // The original has one word for both.
    const onlyLimitIsShort = decision !== undefined && decision.remaining >= decision.required;
    expect(reason).toBe(onlyLimitIsShort ? 'backend_limit' : expected.reason);
    return;
  }
  expect(JSON.parse(body.toString())).toEqual(expected.request);
  expect(canonicalCap(RawObject.parse(body)?.text(expected.field ?? '') ?? '')).toBe(expected.value);
  if (decision?.cap.kind === 'keep') expect(body).toEqual(request);
  else
    expect(decision?.cap, name).toMatchObject({ kind: 'set', field: expected.field, value: expected.value });
  expect(reason === 'fits').toBe(body.equals(request));
}

async function run(vector: Case, backend: Backend): Promise<Outcome> {
  const request = vector.raw('request');
  const object = RawObject.parse(request);
  const messages = object?.member('messages');
  if (
    object === undefined ||
    messages === undefined ||
    valueKind(request, messages.value.start) !== 'array'
  ) {
    return { body: request, reason: 'ignored' };
  }
  try {
    const promptTokens = await countedPrompt(vector, object, backend);
    if (promptTokens === undefined) return { body: request, reason: 'both_counters_failed' };
    const decision = decideFor(vector, object, backend, promptTokens);
    return { body: write(object, decision), reason: decision.reason, decision };
  } catch {
    return { body: request, reason: 'backend_contract_failed' };
  }
}

function decideFor({ input }: Case, object: RawObject, backend: Backend, promptTokens: number): Decision {
  const { W: window, R, context_length: contextLength } = input.settings;
  const budget: BudgetInput = {
    window,
    promptTokens,
    reserve: effectiveReserve(R, undefined),
    caps: readCaps(object, backend),
    outputField: (field) => backend.outputBudgetField?.(field, object) ?? field,
  };
  const withoutLimit = decide({ ...budget, outputField: (field) => field });
  if (withoutLimit.compressDue) return withoutLimit;
  return decide({ ...budget, limit: backend.outputBudgetLimit?.(object, contextLength) });
}

function readCaps(object: RawObject, backend: Backend): CallerCap[] {
  const coerce = backend.coerceOutputBudget?.bind(backend) ?? canonicalCap;
  return CAP_FIELDS.flatMap((field) => {
    const text = object.text(field);
    return text === undefined ? [] : [{ field, text, tokens: coerce(text) }];
  });
}

async function countedPrompt(
  { name, input, expected }: Case,
  object: RawObject,
  backend: Backend,
): Promise<number | undefined> {
  const { context_length: contextLength, F } = input.settings;
  const call = {
    contextLength,
    configured: true,
    credential: undefined,
    signal: AbortSignal.timeout(10_000),
  };
  let tokens: number;
  try {
    tokens = (await backend.count(object, call)).tokens;
  } catch {
    expect(expected.fell_back, name).toBe(true);
    if (input.rough?.fails) return undefined;
    // Without a given estimate the original's own estimator made the number.
    return estimatedPrompt(Number(input.rough?.tokens ?? expected.prompt_tokens), F);
  }
  if (tokens < 0) throw new Error('a count is not negative');
  if (expected.prompt_tokens !== undefined && name !== COUNTED_HERE)
    expect(tokens).toBe(expected.prompt_tokens);
  return tokens;
}

function write(object: RawObject, { cap }: Decision): Buffer {
  if (cap.kind !== 'set') return object.bytes;
  return editObject(object, { set: new Map([[cap.field, String(cap.value)]]), drop: new Set(cap.drop) });
}
