import { describe, expect, test } from 'vitest';
import { createVllmBackend } from '../../src/backends/vllm/vllm-backend.js';
import { type RawObject, readBody } from '../../src/body/raw-object.js';
import { CAP_FIELDS } from '../../src/budget/cap-field.js';
import { decide } from '../../src/budget/decide.js';
import { ACTIONS, REASONS } from '../../src/budget/reason.js';
import { effectiveReserve } from '../../src/budget/window.js';
import { explanation, unchanged } from '../../src/exchange/plan.js';
import { readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/how-it-decides.md');
const WINDOW = 32_768;
const RESERVE = 4096;
/** Only engines that shorten conversations give these. */
const OF_ENGINES = [
  'compression_due',
  'checkpoint_reused',
  'irreducible',
  'compression_failed',
  'compression_timeout',
];

const backend = createVllmBackend({
  options: undefined,
  upstream: 'http://127.0.0.1:9',
  tokenizer: {
    url: undefined,
    timeoutSeconds: 1,
    apiKey: undefined,
    userAgent: undefined,
    cacheEntries: 1,
    urlByModel: new Map(),
  },
  tls: { ca: undefined, insecure: false },
  connectTimeoutSeconds: 1,
  observer: {},
});

function requestOf(members: string): RawObject {
  const body = readBody(Buffer.from(`{"messages": []${members === 'nothing' ? '' : `, ${members}`}}`));
  if (body.kind !== 'object') throw new Error(`no request: ${members}`);
  return body.object;
}

/** A row as the arithmetic gives it. */
function workedOut(promptTokens: string, members: string, operatorCap: number | undefined): string[] {
  const request = requestOf(members);
  const coerce = (text: string | undefined) =>
    text === undefined ? undefined : backend.coerceOutputBudget?.(text);
  const { cap, reason, required, remaining, pressure } = decide({
    window: WINDOW,
    promptTokens: Number(promptTokens),
    reserve: effectiveReserve(RESERVE, operatorCap),
    operatorCap,
    caps: CAP_FIELDS.flatMap((field) => {
      const text = request.text(field);
      return text === undefined ? [] : [{ field, text, tokens: coerce(text) }];
    }),
    minTokens: coerce(request.text('min_tokens')),
    limit: backend.outputBudgetLimit?.(request, WINDOW),
    outputField: (field) => backend.outputBudgetField?.(field, request) ?? field,
  });
  const out = cap.kind === 'set' ? `${cap.field}: ${cap.value}` : 'unchanged';
  return [promptTokens, members, String(required), String(remaining), String(pressure), out, reason];
}

describe.each([
  ['Worked examples', undefined, 11 + 7],
  ['With a cap of your own', 2048, 4],
] as const)('%s', (heading, operatorCap, least) => {
  const all = tableRows(page, heading);
  const rows = heading === 'Worked examples' ? all.slice(0, least) : all;

  test('has its rows', () => expect(rows).toHaveLength(least));
  test.each(rows)('P %s, %s: is what the arithmetic gives', (...row) => {
    expect(row).toEqual(workedOut(row[0] ?? '', row[1] ?? '', operatorCap));
  });
});

test('names every reason that this version can give, once', () => {
  const named = tableRows(page, 'Reasons').map(([reason]) => reason);
  const expected = REASONS.filter((reason) => !OF_ENGINES.includes(reason));
  expect(named.toSorted()).toEqual(expected.toSorted());
});

test('gives every reason an action that exists', () => {
  const named = tableRows(page, 'Reasons').map(([, action]) => action);
  expect(named.filter((action) => !(ACTIONS as readonly unknown[]).includes(action))).toEqual([]);
});

test('shows every field that explain answers with', () => {
  const shown = page.blocks.find(({ language }) => language === 'json');
  const fields = Object.keys(JSON.parse(shown?.text ?? '{}') as object);
  expect(fields).toEqual(Object.keys(explanation(unchanged(Buffer.alloc(0), 'fits'))));
});
