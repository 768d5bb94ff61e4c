import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { environmentName, fileKey, flagName, SETTING_NAMES, settingOf } from '../../src/config/table.js';
import { loadFrom, type Origins, problemsFrom } from './load-from.js';

/** Accepted, or refused with a reason: never an exception, which would be the one thing an operator sees. */
function answers(origins: Origins): boolean {
  const loaded = loadFrom(origins);
  return loaded.ok || loaded.problems.length > 0;
}

const text = fc.string({ unit: 'binary' });
const name = fc.constantFrom(...SETTING_NAMES);

it('answers whatever the environment and the flags say', () => {
  const env = fc.dictionary(fc.oneof(name.map(environmentName), text), text);
  const flags = fc.dictionary(name.map(flagName), text);
  fc.assert(fc.property(env, flags, (env, flags) => answers({ env, flags })));
});

it('answers whatever text the file is', () => {
  const scrap = fc.constantFrom(
    'server:',
    ' port:',
    '\n',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '!!x ',
    '? ',
    ': ',
    '"',
    '#',
    '\t',
  );
  const yaml = fc.array(fc.oneof(scrap, text), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(yaml, (yaml) => answers({ yaml })),
    { numRuns: 500 },
  );
});

it('answers whatever value a key of the file has', () => {
  const key = fc.constantFrom(...SETTING_NAMES);
  fc.assert(
    fc.property(key, fc.jsonValue(), (key, value) =>
      answers({ yaml: JSON.stringify({ [settingOf(key).section]: { [fileKey(key)]: value } }) }),
    ),
    { numRuns: 500 },
  );
});

it('refuses a value that contains itself', () => {
  expect(problemsFrom({ yaml: 'server: &s { port: *s }' })).toMatchObject([
    { setting: 'server.port in incontext.yaml' },
  ]);
});

it('refuses a file that would unfold without end', () => {
  const bomb = ['a: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++) bomb.push(`b${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}]`);
  expect(problemsFrom({ yaml: bomb.join('\n') })[0]?.rule).toContain('alias');
});

it('prints nothing itself, not even where the parser of YAML would warn', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect(problemsFrom({ yaml: 'server: { { hush: 1 }: 2, !hush port: 3 }' })).not.toEqual([]);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});
