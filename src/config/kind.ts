import { z } from 'zod';
import { pythonFloat, pythonInt, strip } from './python-number.js';

/** A kind of value: how it is read, what it must be, how it is shown. */
export interface Kind<T> {
  /** Reads a value as it stands in the file. Its own `custom` issues carry a rule more exact than `rule`. */
  readonly schema: z.ZodType<T>;
  /** What a text of the environment or a flag stands for in the file; `undefined` where it is not of this kind. */
  fromText(text: string): unknown;
  /** What a value must be: `must be a positive integer`. */
  readonly rule: string;
  /** A value as a user would write it. */
  show(value: T): string;
  /** What stands for a value in the help, `''` where a flag needs none. */
  readonly placeholder: string;
}

export interface Range {
  readonly min: number;
  readonly max?: number;
  /** `min` itself is refused. */
  readonly above?: boolean;
}

/** An integer, in text as Python's `int()` reads it. */
export function integer(range: Range): Kind<number> {
  return {
    schema: bounded(range).refine(Number.isInteger).meta({ type: 'integer' }),
    fromText: pythonInt,
    rule: `must be ${integerRule(range)}`,
    show: String,
    placeholder: 'N',
  };
}

/** A finite number, in text as Python's `float()` reads it. */
export function decimal(range: Range): Kind<number> {
  const low = range.above === true ? `greater than ${range.min}` : `of at least ${range.min}`;
  const high = range.max === undefined ? '' : ` and at most ${range.max}`;
  return {
    schema: bounded(range),
    fromText: pythonFloat,
    rule: `must be a floating-point number ${low}${high}`,
    show: String,
    placeholder: 'NUMBER',
  };
}

// Node's timers overflow above 2^31 - 1 ms, and then fire at once.
const LONGEST_TIMER_SECONDS = 2_147_483;

/** Seconds, fractions allowed. `mayBeNone`: 0 stands for no limit. */
export function seconds(mayBeNone: 'positive' | 'or zero'): Kind<number> {
  const limit = decimal({ min: 0, max: LONGEST_TIMER_SECONDS, above: mayBeNone === 'positive' });
  return { ...limit, placeholder: 'SECONDS' };
}

const SWITCH_WORDS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

export const onOff: Kind<boolean> = {
  schema: z.boolean(),
  fromText: (text) => SWITCH_WORDS.get(strip(text).toLowerCase()),
  rule: 'must be true or false',
  show: String,
  placeholder: '',
};

/** One of a few words, in any case. */
export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  return {
    schema: z.enum(words),
    fromText: (text) => strip(text).toLowerCase(),
    rule: `must be one of ${words.join(', ')}`,
    show: String,
    placeholder: 'WORD',
  };
}

function bounded({ min, max, above }: Range): z.ZodNumber {
  const low = above === true ? z.number().gt(min) : z.number().min(min);
  return max === undefined ? low : low.max(max);
}

function integerRule({ min, max }: Range): string {
  if (max !== undefined) return `an integer from ${min} to ${max}`;
  return min === 1 ? 'a positive integer' : `an integer of at least ${min}`;
}
