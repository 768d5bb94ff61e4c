import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/load.js';
import { formatProblems } from '../../src/config/problem.js';
import { loadFrom, problemsFrom, settingsFrom } from './load-from.js';

const refused = (yaml: string) => problemsFrom({ yaml });

it.each([
  ['server: { prot: 1 }', 'server.prot in incontext.yaml', 'did you mean port?'],
  ['sever: { port: 1 }', 'sever in incontext.yaml', 'did you mean server?'],
  ['budget: { threshold: 0.5 }', 'budget.threshold in incontext.yaml', 'it belongs to compression.threshold'],
  ['port: 1', 'port in incontext.yaml', 'it belongs to server.port'],
  ['server: { config: x }', 'server.config in incontext.yaml', 'the command line or the environment'],
  ['models: { m: { treshold: 1 } }', 'models.m.treshold in incontext.yaml', 'did you mean threshold?'],
  ['zzzzzzzzzzzz: 1', 'zzzzzzzzzzzz in incontext.yaml', 'known are upstream, server'],
])('refuses the unknown key of %s and names the nearest', (yaml, setting, hint) => {
  const problems = refused(yaml);
  expect(problems).toMatchObject([{ setting }]);
  expect(problems[0]?.rule).toContain(hint);
});

it.each([
  ['server:\n  port: 1\n port: 2\n', 'line 3'],
  ['server: { port: 1', 'line 1'],
  ['a: 1\na: 2\n', 'line 2'],
])('says in which line %j is no YAML', (yaml, line) => {
  expect(refused(yaml)[0]?.setting).toContain(line);
});

it('refuses an alias without an anchor, and a file that is no mapping', () => {
  expect(refused('server: { port: *p }')).toHaveLength(1);
  expect(refused('- a\n- b\n')[0]?.rule).toContain('mapping');
  expect(refused('models: [a]')[0]?.setting).toBe('models in incontext.yaml');
  expect(refused('models: { m: 3 }')[0]?.setting).toBe('models.m in incontext.yaml');
  expect(refused('server: 8080')[0]?.setting).toBe('server in incontext.yaml');
});

it('accepts an empty file, an empty section and an empty block', () => {
  expect(refused('')).toEqual([]);
  expect(refused('server:\nmodels:\nplugins:\nbackends:\n')).toEqual([]);
});

it('refuses an empty list of keys, which would ask for none', () => {
  expect(refused('server: { api_keys: [] }')[0]?.rule).toContain('at least one');
});

it.each(['server: { api_keys: }', 'models: { m: { threshold: } }'])(
  'refuses a key without a value, which would open what it should guard: %s',
  (yaml) => {
    expect(refused(yaml)[0]?.rule).toContain('must have a value');
  },
);

it.each([
  'server:\n  port: 1\n port: 2\n',
  'upstream: { upstream_url: http://u }\nserver: {}\nserver: {}\n',
  '- a\n',
  undefined,
])('does not say that a setting is missing that a file which cannot be read may hold: %j', (yaml) => {
  const readFile = () => {
    if (yaml === undefined) throw new Error('gone');
    return yaml;
  };
  const loaded = loadSettings({
    flags: { config: 'incontext.yaml', port: '-1' },
    env: {},
    cwd: '/',
    readFile,
  });
  const text = loaded.ok ? '' : formatProblems(loaded.problems);
  expect(text).toContain('incontext.yaml');
  expect(text).toContain('--port');
  expect(text).not.toContain('must be given');
});

it('refuses a file that is not there, by the name the user gave it', () => {
  expect(problemsFrom({ env: { INCONTEXT_CONFIG: 'gone.yaml' } })).toMatchObject([
    { setting: 'INCONTEXT_CONFIG', value: 'gone.yaml', rule: 'must name a readable file: ENOENT' },
  ]);
});

it('reads numbers, switches and lists as YAML has them, and as the environment would', () => {
  const yaml = `
upstream: { upstream_insecure: yes }
server: { port: "0x", api_keys: [one, two], body_limit: 1000 }
budget: { min_output_tokens: "1_000" }
compression: { compress_on_estimate: false }
sessions: { retention: 7 }
`;
  expect(settingsFrom({ yaml: yaml.replace('"0x"', '0') })).toMatchObject({
    upstream: { insecure: true },
    server: { port: 0, apiKeys: ['one', 'two'], bodyLimit: 1000 },
    budget: { minOutputTokens: 1000 },
    compression: { compressOnEstimate: false },
    sessions: { retentionDays: 7 },
  });
  expect(refused(yaml)).toMatchObject([{ setting: 'server.port in incontext.yaml', value: '"0x"' }]);
});

it('tells to quote a number that is meant as a text', () => {
  expect(refused('server: { admin_token: 123456 }')).toMatchObject([
    { value: '***', rule: expect.stringContaining('put it in quotes') },
  ]);
  expect(refused('server: { port: true }')[0]?.rule).toBe('must be an integer from 0 to 65535');
});

describe('the blocks of the file', () => {
  const yaml = `
models:
  Qwen/Qwen3-8B: { context_length: 40960, tokenizer_url: http://t/tokenize, threshold: 0.5, min_output_tokens: 9, max_output_tokens: 99 }
plugins: [ ./mine.js, acme-backend ]
backends: { acme: { endpoint: http://acme, nested: { list: [1, 2.5] } } }
engines: { lcm: { fresh_tail: 7 } }
`;

  it('are read by model, and handed to plugins as they stand', () => {
    const { models, plugins, backends, engines } = settingsFrom({ yaml });
    expect(models.get('Qwen/Qwen3-8B')).toEqual({
      contextLength: 40960,
      tokenizerUrl: 'http://t/tokenize',
      threshold: 0.5,
      minOutputTokens: 9,
      maxOutputTokens: 99,
    });
    expect(plugins).toEqual(['./mine.js', 'acme-backend']);
    expect(backends.get('acme')).toEqual({ endpoint: 'http://acme', nested: { list: [1, 2.5] } });
    expect(engines.get('lcm')).toEqual({ fresh_tail: 7 });
  });

  it('are refused value by value', () => {
    const bad =
      'models: { m: { context_length: 0, tokenizer_url: "ftp://t", threshold: 1.5, min_output_tokens: 1.5 } }';
    const settings = refused(`${bad}\nplugins: [ 3 ]`).map(({ setting }) => setting);
    const keys = ['context_length', 'tokenizer_url', 'threshold', 'min_output_tokens'];
    expect(settings).toEqual([
      ...keys.map((key) => `models.m.${key} in incontext.yaml`),
      'plugins in incontext.yaml',
    ]);
  });

  it('keep a model named like a member of every object', () => {
    const { models } = settingsFrom({
      yaml: 'models: { __proto__: { threshold: 0.5 }, constructor: { threshold: 1 } }',
    });
    expect([...models]).toMatchObject([
      ['__proto__', { threshold: 0.5 }],
      ['constructor', { threshold: 1 }],
    ]);
    expect(loadFrom({ yaml: 'server: { __proto__: { port: 1 } }' }).ok).toBe(false);
  });
});
