import { expect, test } from 'vitest';
import { surprises } from '../../src/demo/play.js';
import { summarise, summaryText } from '../../src/demo/summary.js';
import { BYPASSED, sampleRow } from './sample-row.js';

const EXPECTED = {
  action: 'clamped',
  reason: 'cap_lowered',
  source: 'vllm-tokenize',
  direct: 400,
  fillsWindow: true,
} as const;

test('counts what was done, what failed, and which counts the server confirmed', () => {
  const rows = [sampleRow(), sampleRow(), BYPASSED, sampleRow({ status: 502, usagePromptTokens: undefined })];
  expect(summarise(rows)).toEqual({
    requests: 4,
    actions: { clamped: 3, bypassed: 1 },
    failures: 1,
    directFailures: 4,
    confirmedCounts: 2,
    surprising: [],
  });
});

test('calls no estimate confirmed', () => {
  const lucky = sampleRow({ told: { source: 'rough-fallback' } });
  expect(summarise([lucky]).confirmedCounts).toBe(0);
});

test('sums up in sentences, and names the steps that did not go as told', () => {
  const odd = sampleRow({ step: 5, surprises: ['action is missing, not clamped'] });
  expect(summaryText(summarise([sampleRow(), sampleRow(), BYPASSED, odd])).split('\n')).toEqual([
    '4 requests: 3 clamped, 1 bypassed, 0 failures.',
    'Sent without the proxy, 4 of them fail.',
    "3 exact counts, each equal to the server's own usage.",
    'Not as told: step 5.',
  ]);
});

test('is not surprised by what the story tells', () => {
  const { told } = sampleRow();
  expect(surprises(EXPECTED, told, { status: 200, promptTokens: 258 }, { status: 400 })).toEqual([]);
});

test('names every difference from the story', () => {
  const { told } = sampleRow({ told: { reason: 'fits', maxTokens: 7000 } });
  expect(surprises(EXPECTED, told, { status: 400, promptTokens: 259 }, { status: undefined })).toEqual([
    'reason is fits, not cap_lowered',
    'status is 400, not 200',
    'direct status is missing, not 400',
    'prompt and cap is 7258, not 8192',
    'prompt tokens is 258, not 259',
  ]);
});
