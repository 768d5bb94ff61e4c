import { describe, expect, test } from 'vitest';
import { createVllmBackend } from '../../src/backends/vllm/vllm-backend.js';
import { type RawObject, readBody } from '../../src/body/raw-object.js';
import { CAP_FIELDS } from '../../src/budget/cap-field.js';
import { type Decision, decide } from '../../src/budget/decide.js';
import { ACTIONS, REASONS } from '../../src/budget/reason.js';
import { effectiveReserve } from '../../src/budget/window.js';
import { ENDPOINTS } from '../../src/exchange/endpoint.js';
import { explanation, unchanged } from '../../src/exchange/plan.js';
import { readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/how-it-decides.md');
const CONTEXT = 32_768;
const WINDOW = 0.75 * CONTEXT;
const RESERVE = 4096;

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

function decisionOn(promptTokens: string, members: string, window: number, operatorCap?: number): Decision {
  const request = requestOf(members);
  const coerce = (text: string | undefined) =>
    text === undefined ? undefined : backend.coerceOutputBudget?.(text);
  return decide({
    window,
    promptTokens: Number(promptTokens),
    reserve: effectiveReserve(RESERVE, operatorCap),
    operatorCap,
    caps: CAP_FIELDS.flatMap((field) => {
      const text = request.text(field);
      return text === undefined ? [] : [{ field, text, tokens: coerce(text) }];
    }),
    minTokens: coerce(request.text('min_tokens')),
    limit: backend.outputBudgetLimit?.(request, CONTEXT),
    outputField: (field) => backend.outputBudgetField?.(field, request) ?? field,
  });
}

/** A row as the arithmetic gives it. */
function workedOut(promptTokens: string, members: string, operatorCap: number | undefined): string[] {
  const decision = decisionOn(promptTokens, members, WINDOW, operatorCap);
  const { compressDue, required, remaining, pressure } = decision;
  const [out, reason] = compressDue ? ['a pass', 'compression_due'] : [goesOut(decision), decision.reason];
  return [promptTokens, members, String(required), String(remaining), String(pressure), out, reason];
}

/** The same where no pass helped: the window is the whole context length. */
function workedOutAgain(promptTokens: string, members: string): string[] {
  const decision = decisionOn(promptTokens, members, CONTEXT);
  const { cap, required, remaining } = decision;
  const reason = cap.kind === 'unviable' ? 'irreducible' : 'clamped_to_context';
  return [promptTokens, members, String(required), String(remaining), goesOut(decision), reason];
}

function goesOut({ cap }: Decision): string {
  return cap.kind === 'set' ? `${cap.field}: ${cap.value}` : 'unchanged';
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

test('When no pass helps: every row is what the arithmetic gives', () => {
  const rows = tableRows(page, 'When no pass helps');
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(row).toEqual(workedOutAgain(row[0] ?? '', row[1] ?? ''));
});

test('Other endpoints: says of each what is done with it', () => {
  const rows = tableRows(page, 'Other endpoints').filter((cells) => cells.length === 4);
  expect(rows).toEqual(
    ENDPOINTS.map(({ path, capFields, insertsCap, form }) => [
      path,
      capFields.join(', '),
      insertsCap ? 'gets one' : 'passes',
      form === undefined ? 'no' : form === 'chat' ? 'yes' : 'where nothing is lost',
    ]),
  );
});

test('names every reason, once', () => {
  const named = tableRows(page, 'Reasons').map(([reason]) => reason);
  expect(named.toSorted()).toEqual(REASONS.toSorted());
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
