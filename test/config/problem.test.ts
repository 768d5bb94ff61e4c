import { expect, it } from 'vitest';
import { formatProblems, showRefused } from '../../src/config/problem.js';
import { problemsFrom } from './load-from.js';

it('reports everything at once, each with its value, its rule and a value that would work', () => {
  const problems = problemsFrom({
    flags: { port: '99999' },
    env: { INCONTEXT_HOST: ' ', INCONTEXT_UPSTREAM_URL: 'ftp://u' },
    yaml: 'budget: { min_output_tokens: 0 }\nmodels: { m: { threshold: 2 } }',
  });
  expect(problems.map(({ setting }) => setting).sort()).toEqual([
    '--port',
    'INCONTEXT_HOST',
    'INCONTEXT_UPSTREAM_URL',
    'budget.min_output_tokens in incontext.yaml',
    'models.m.threshold in incontext.yaml',
  ]);
  for (const { value, rule, example } of problems) {
    expect(value).not.toBe('');
    expect(rule).toMatch(/^must /);
    expect(example).not.toBe('');
  }
});

it('is readable', () => {
  expect(formatProblems(problemsFrom({ flags: { port: '99999', 'body-limit': 'big' } }))).toBe(
    `2 settings are refused:

  --port = "99999"
    must be an integer from 0 to 65535
    for example: 8787

  --body-limit = "big"
    must be a positive number of bytes, or one with a unit such as KiB, MiB or GiB
    for example: 64MiB`,
  );
});

it('says one setting of one, and leaves out what there is not', () => {
  const text = formatProblems([{ setting: 'a', value: '', rule: 'must be known', example: '' }]);
  expect(text).toBe('1 setting is refused:\n\n  a\n    must be known');
});

it('cuts a long value', () => {
  expect(showRefused('x'.repeat(1000), false).length).toBeLessThan(110);
});

const SECRETS = [
  'INCONTEXT_UPSTREAM_API_KEY',
  'INCONTEXT_TOKENIZER_API_KEY',
  'INCONTEXT_API_KEYS',
  'INCONTEXT_ADMIN_TOKEN',
];

it.each(SECRETS)('never shows %s, nor how long it is', (name) => {
  const short = formatProblems(problemsFrom({ env: { [name]: 'hush hush' } }));
  const long = formatProblems(problemsFrom({ env: { [name]: 'hush hush, and much longer, hush' } }));
  expect(short).toContain(`${name} = ***`);
  expect(short).not.toContain('hush');
  expect(long).toBe(short);
});

it.each([
  'http://me:hush@u',
  'http://me:hu/hush@u',
  'http://me:h@hush@u',
  'me:hush@u/v1',
  'http://hush%40u',
  ' http://me:hush@u ',
  'ftp://hush@u',
  'http:/me:hush@u',
])('never shows the credentials of %s', (url) => {
  const problems = ['INCONTEXT_UPSTREAM_URL', 'INCONTEXT_TOKENIZER_URL'].flatMap((name) =>
    problemsFrom({ env: { [name]: url } }),
  );
  expect(problems).toHaveLength(2);
  expect(formatProblems(problems)).not.toContain('hush');
});

it.each([
  'http://h/?api_key=hush',
  'http://h/#hush',
  'h/?hush',
  'ftp://h/?a=b@c&key=hush',
  'http://h/?a@b=hush',
  'http://me:hu?sh@h/?hush',
  'http://h/?a=%40hush',
  'http:///?a=1?hush\nhush',
])('never shows the query of %j', (url) => {
  const problems = problemsFrom({ flags: { upstream: url } });
  expect(problems).toMatchObject([{ setting: '--upstream', value: expect.stringContaining('***') }]);
  expect(formatProblems(problems)).not.toMatch(/hush|hu\?|sh@/);
});

it('shows the rest of a URL whose query it masks', () => {
  expect(showRefused('http://h/v1?api_key=hush', false)).toBe('"http://h/v1?***"');
});

it.each([
  'server: { admin_tokne: hush }',
  'hush_is_no_section: { admin_token: [hush }',
  'server: { admin_token: *hush }',
  'server: { admin_token: "hush }',
  'server: { api_keys: { hush: hush } }',
  'backends: { acme: { key: hush } }\nserver: { port: -1 }',
])('shows no secret of a file that is refused: %s', (yaml) => {
  const text = formatProblems(problemsFrom({ yaml }));
  expect(text).toContain('refused');
  expect(text.replace('hush_is_no_section', '')).not.toContain('hush');
});
