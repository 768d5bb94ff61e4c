import { readFileSync } from 'node:fs';
import { arrayElements, objectMembers } from '../../src/body/members.js';
import { RawObject } from '../../src/body/raw-object.js';
import type { Span } from '../../src/body/span.js';

/** A golden case: parsed, and with every member of its input as the raw bytes of the file. */
export interface VectorCase<Input, Expected> {
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected;
  /** The raw JSON text of a member of `input`: `2.0` is not `2`. */
  raw(member: string): Buffer;
}

/** The cases of `test/vectors/<file>`. The types are the reader's: the file is trusted. */
export function readCases<Input, Expected>(file: string): VectorCase<Input, Expected>[] {
  const bytes = readFileSync(new URL(`../vectors/${file}`, import.meta.url));
  const cases = RawObject.parse(bytes)?.member('cases');
  if (cases === undefined) throw new Error(`${file} has no cases`);
  return arrayElements(bytes, cases.value).map((span) => readCase<Input, Expected>(bytes, span));
}

function readCase<Input, Expected>(bytes: Buffer, span: Span): VectorCase<Input, Expected> {
  const parsed = JSON.parse(text(bytes, span));
  const input = member(bytes, span, 'input');
  return {
    name: parsed.name,
    input: parsed.input,
    expected: parsed.expected,
    raw: (name) => {
      const value = member(bytes, input, name);
      return bytes.subarray(value.start, value.end);
    },
  };
}

function member(bytes: Buffer, span: Span, name: string): Span {
  const found = objectMembers(bytes, span).findLast((candidate) => candidate.key === name);
  if (found === undefined) throw new Error(`no member ${name}`);
  return found.value;
}

function text(bytes: Buffer, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}
