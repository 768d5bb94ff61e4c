import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Recorded } from '../support/outcome.js';
import { PARITY_SHAPES } from '../support/parity-shapes.js';

const table = readFileSync(new URL('../../fixtures/vllm/parity-0.32.tsv', import.meta.url), 'utf8');
const rows = table
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));

test('every row of the recorded table is a shape, and had the same outcome when it was asked again', () => {
  const recorded = new Recorded('chat-outcomes');
  for (const [name = '', status, tokens] of rows) {
    const outcome = recorded.outcome(name, '0.32 plain usage');
    if (status === '200') expect(outcome, name).toBe(Number(tokens));
    else expect(outcome, name).toMatchObject({ status: Number(status) });
  }
  expect(rows.map(([name]) => name).toSorted()).toEqual(Object.keys(PARITY_SHAPES).toSorted());
});
