import { readFileSync } from 'node:fs';
import { arrayElements } from '../../../src/body/members.js';
import { RawObject } from '../../../src/body/raw-object.js';

export interface Vector {
  readonly name: string;
  /** The input, its numbers as the file spells them. */
  readonly input: RawObject;
  readonly expected: RawObject;
}

/** The cases of a vector file as raw text: parsed and written again, `1.0` would be `1`. */
export function vectorsOf(file: string): readonly Vector[] {
  const bytes = readFileSync(new URL(`../../vectors/${file}`, import.meta.url));
  const cases = objectOf(bytes).raw('cases') as Buffer;
  return arrayElements(cases, { start: 0, end: cases.length }).map(({ start, end }) => {
    const one = objectOf(cases.subarray(start, end));
    return { name: String(one.value('name')), input: child(one, 'input'), expected: child(one, 'expected') };
  });
}

export function child(object: RawObject, name: string): RawObject {
  return objectOf(object.raw(name));
}

function objectOf(bytes: Buffer | undefined): RawObject {
  const object = bytes === undefined ? undefined : RawObject.parse(bytes);
  if (object === undefined) throw new Error('no object in the vector file');
  return object;
}
