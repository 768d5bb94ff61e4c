import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { identifiersIn } from '../../../src/engines/compressor/identifiers.js';
import { addToLedger, EMPTY_LEDGER } from '../../../src/engines/compressor/ledger.js';
import { boundLedger, ledgerText } from '../../../src/engines/compressor/ledger-text.js';
import { factsIn } from '../../../src/engines/compressor/record-facts.js';
import { SAID } from '../../../src/engines/compressor/said-facts.js';
import { shownLedger } from '../../../src/engines/compressor/shown-ledger.js';
import { build, roughly } from './support/build.js';
import { filler, PLANTED } from './support/histories.js';
import { run } from './support/invariants.js';
import { amnesic, failing, randomFrom, type Summariser } from './support/summarisers.js';

const count = (text: string) => roughly(text);
const texts = (text: string) => identifiersIn(text).map((identifier) => identifier.text);

test.each([
  [
    'see /etc/relay/upstream.toml and src/a-b/c.test.ts, then ~/x/y',
    ['/etc/relay/upstream.toml', 'src/a-b/c.test.ts', '~/x/y'],
  ],
  [
    'go to https://example.org/a?b=1#c, or mail a.b+c@mail.example.org.',
    ['https://example.org/a?b=1#c', 'a.b+c@mail.example.org'],
  ],
  ['order #W1234567 of user_name_1234 under HAT101', ['#W1234567', 'user_name_1234', 'HAT101']],
  [
    'id 123e4567-e89b-12d3-a456-426614174000 at 9f3ab27c1d',
    ['123e4567-e89b-12d3-a456-426614174000', '9f3ab27c1d'],
  ],
  ['call getUserName in ContextEngine with max_tokens', ['getUserName', 'ContextEngine', 'max_tokens']],
  ['costs $4,350.50 or 12.5% or 200 EUR', ['$4,350.50', '12.5%', '200 EUR']],
  [
    'on 2026-03-14T10:00:00Z, 14.03.2026 and March 3, 2027 at 10:45',
    ['2026-03-14T10:00:00Z', '14.03.2026', 'March 3, 2027', '10:45'],
  ],
  ['version 4.17.21 and v2.0.0-rc.1, port 48213, room 404', ['4.17.21', 'v2.0.0-rc.1', '48213', '404']],
  ['port 80 of order 17, and the answer is 42', ['port 80', 'order 17', 'is 42']],
  [
    'at deadbeef on feature/login-form in src/engines/host',
    ['deadbeef', 'feature/login-form', 'src/engines/host'],
  ],
  ['it says "blue door" and `npm ci`', ['blue door', 'npm ci']],
])('finds in %j what names something, spelled as it stands', (text, expected) => {
  expect(texts(text)).toEqual(expect.arrayContaining(expected));
});

test('plain prose names nothing', () => {
  expect(texts('He and/or she read the input/output either way.')).toEqual([]);
  expect(texts('This is a sentence. Here is another one, and nothing in it matters.')).toEqual([]);
});

test('long runs without a space take no time', () => {
  const started = performance.now();
  for (const run of ['a', 'a.', 'a-', '/a', '1', 'aB', '_a', 'a1', '@a', '"a'])
    identifiersIn(run.repeat(100_000));
  expect(performance.now() - started).toBeLessThan(8000);
});

test('says of the members of a record which is which', () => {
  const facts = factsIn(
    '{"user_id":"mei_kovacs_8020","orders":["#W1","#W2"],"items":{"1008292230":{"price":46.66}},"big":12345678901234567890}',
  );
  expect(facts.map(({ key, text }) => `${key}=${text}`)).toEqual([
    'user_id=mei_kovacs_8020',
    'orders=#W1',
    'orders=#W2',
    'items=1008292230',
    'price=46.66',
    'big=12345678901234567890',
  ]);
});

test('rows of one shape share the names of their members', () => {
  const facts = factsIn('[{"a":"X1","b":"Y1"},{"a":"X2","b":"Y2"}]');
  const ledger = addToLedger(EMPTY_LEDGER, [{ source: 'list()', facts }]);
  expect(ledgerText(ledger)).toBe('- list(): a/b X1/Y1, X2/Y2');
});

test('the oldest go first, but one that is named again is fresh', () => {
  const step = (text: string) => ({ source: 'user', facts: factsIn(text) });
  const old = addToLedger(
    EMPTY_LEDGER,
    Array.from({ length: 60 }, (_, i) => step(`ticket AB${1000 + i}`)),
  );
  const ledger = boundLedger(addToLedger(old, [step('again AB1001')]), 100, count);
  expect(count(ledgerText(ledger))).toBeLessThanOrEqual(100);
  expect(ledgerText(ledger)).toContain('AB1001');
  expect(ledgerText(ledger)).toContain('AB1059');
  expect(ledgerText(ledger)).not.toContain('AB1000');
});

test.each([
  ['ids', (i: number) => `oak-${i}a${i}f`, 120],
  ['paths', (i: number) => `src/oak/m${i}.ts`, 170],
])(
  '%s that were answered are shown before what tools printed, without their words where there is no room',
  (_, spelled, most) => {
    const said = { source: 'assistant', facts: Array.from({ length: 12 }, (_, i) => answered(spelled(i))) };
    const printed = { text: 'notes/next.txt', key: '', worth: 2, about: '' };
    const ledger = addToLedger(EMPTY_LEDGER, [said, { source: 'read()', facts: [printed] }]);
    const shown = ledgerText(shownLedger(ledger, '', most, count));
    expect(count(shown)).toBeLessThanOrEqual(most);
    for (const { text } of said.facts) expect(shown).toContain(text);
  },
);

function answered(text: string) {
  return { text, key: '', worth: SAID, about: `The mark that stands in this file of the trail is ${text}.` };
}

test('a record that is read again replaces what it said of itself', () => {
  const read = (status: string) => ({ source: 'get_order(#W1)', facts: factsIn(`{"status":"${status}"}`) });
  const ledger = addToLedger(EMPTY_LEDGER, [read('pending'), read('delivered')]);
  expect(ledgerText(ledger)).toBe('- get_order(#W1): status delivered');
});

async function throughPasses(summariser: Summariser, passes: number): Promise<Message[]> {
  const random = randomFrom(3);
  let view: Message[] = [{ role: 'system', content: 'Be helpful.' }];
  for (let pass = 0; pass < passes; pass += 1) {
    for (let turn = 0; turn < 8; turn += 1) {
      const fact =
        pass === 0 ? [PLANTED[turn], PLANTED[turn + 8]].map((planted) => planted?.text ?? '').join(' ') : '';
      view.push({ role: 'user', content: `${filler(40, random)} ${fact}` });
      view.push({ role: 'assistant', content: filler(450, random) });
    }
    view.push({ role: 'user', content: `And now? ${pass}` });
    const { result } = await run(build({ summariser }), structuredClone(view), 3072);
    expect(result).toBeDefined();
    view = [...(result ?? []), { role: 'assistant', content: 'Fine.' }];
  }
  return view;
}

test.each([
  ['amnesic', amnesic],
  ['failing', failing],
] as const)('five passes with a summariser that is %s lose none of what was named', async (_, summariser) => {
  const text = JSON.stringify((await throughPasses(summariser, 5)).map(({ content }) => content));
  expect(PLANTED.filter(({ needle }) => !text.includes(needle))).toEqual([]);
});
