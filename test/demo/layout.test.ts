import { expect, test } from 'vitest';
import { capText } from '../../src/demo/cells.js';
import { inkFor } from '../../src/demo/ink.js';
import { layoutFor } from '../../src/demo/layout.js';
import { STEPS } from '../../src/demo/scenario.js';
import { BYPASSED, sampleRow } from './sample-row.js';

const PLAIN = inkFor({ colour: false, unicode: false });
const COLOURED = inkFor({ colour: true, unicode: true });
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOURS = /\x1b\[\d*m/g;

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

/** The fullest table that there can be. */
function table(columns: number, ink = PLAIN): string {
  const layout = layoutFor(columns, ink);
  const rows = STEPS.map(({ asks, caps, note }, at) => {
    const row = sampleRow({ step: at + 1, asks, caps });
    return layout.row({ ...row, note: note?.(row.told) });
  });
  const longest = sampleRow({
    caps: { max_tokens: 2048, max_completion_tokens: 4096 },
    told: { reason: 'requires_compression', source: 'rough-fallback', maxTokens: 2048 },
  });
  return [layout.head(8192), ...rows, layout.row(longest), layout.row(BYPASSED)].join('\n');
}

test('shows a row in two lines on 80 columns', () => {
  expect(layoutFor(80, PLAIN).row(sampleRow())).toBe(
    [
      ' 2  a million tokens                 1000000 -> 7934      200     400',
      '    clamped     cap_lowered            258 vllm-tokenize   #====================',
      '',
    ].join('\n'),
  );
});

test('shows a row in one line on 140 columns', () => {
  expect(layoutFor(140, PLAIN).row(sampleRow())).toBe(
    ' 2  a million tokens             clamped     cap_lowered            258 vllm-tokenize   ' +
      '#==============  1000000 -> 7934      200     400',
  );
});

test('says where nothing was counted', () => {
  const text = layoutFor(80, PLAIN).row(BYPASSED);
  expect(text).toContain('not counted');
  expect(text).not.toMatch(/NaN|undefined/);
});

test('says under a row what did not go as told', () => {
  const row = sampleRow({ surprises: ['reason is fits, not cap_lowered'] });
  expect(layoutFor(80, PLAIN).row(row)).toContain('\n    not as told: reason is fits, not cap_lowered');
});

test.each([80, 100, 139, 140, 200])('stays within %i columns', (columns) => {
  expect(widest(table(columns))).toBeLessThanOrEqual(columns);
});

test.each([80, 140])('looks the same in colour on %i columns', (columns) => {
  const unicode = inkFor({ colour: false, unicode: true });
  const coloured = table(columns, COLOURED);
  expect(coloured).toMatch(COLOURS);
  expect(coloured.replace(COLOURS, '')).toBe(table(columns, unicode));
});

test('names a cap once where it stayed as it was, and all where there were several', () => {
  expect(capText({ max_tokens: 512 }, 512, '->')).toBe('512');
  expect(capText({}, undefined, '->')).toBe('none');
  expect(capText({}, 7891, '->')).toBe('none -> 7891');
  expect(capText({ max_tokens: 2048, max_completion_tokens: 4096 }, 2048, '->')).toBe('2048, 4096 -> 2048');
});
