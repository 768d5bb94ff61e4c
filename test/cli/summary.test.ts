import { expect, it } from 'vitest';
import { formatSummary } from '../../src/cli/summary.js';
import { loadFrom, type Origins } from '../config/load-from.js';

function summaryOf(origins: Origins): string {
  const loaded = loadFrom(origins);
  if (!loaded.ok) throw new Error(`refused: ${JSON.stringify(loaded.problems)}`);
  return formatSummary(loaded.settings, loaded.sources);
}

const lineOf = (summary: string, key: string) =>
  summary
    .split('\n')
    .find((line) => line.trim().split(' ')[0] === key)
    ?.replace(/ +/g, ' ')
    .trim();

it('says what is in force, and where each value came from that is no default', () => {
  const summary = summaryOf({
    flags: { port: '9000', upstream: 'http://u/v1/' },
    env: { INCONTEXT_TENANT: 'none', HERMES_VLLM_TOKENIZER_URL: 'http://t/tokenize' },
    yaml: 'budget: { context_length: 131072 }',
  });
  expect(lineOf(summary, 'upstream_url')).toBe('upstream_url http://u from --upstream');
  expect(lineOf(summary, 'port')).toBe('port 9000 from --port');
  expect(lineOf(summary, 'host')).toBe('host 127.0.0.1');
  expect(lineOf(summary, 'tenant')).toBe('tenant none from INCONTEXT_TENANT');
  expect(lineOf(summary, 'tokenizer_url')).toBe(
    'tokenizer_url http://t/tokenize from HERMES_VLLM_TOKENIZER_URL',
  );
  expect(lineOf(summary, 'context_length')).toBe(
    'context_length 131072 from budget.context_length in incontext.yaml',
  );
  expect(lineOf(summary, 'max_output_tokens')).toBe('max_output_tokens (no limit of its own)');
});

it('lines up values and origins', () => {
  const lines = summaryOf({ flags: { port: '9000', 'log-level': 'debug' } }).split('\n');
  const columns = (text: string) => lines.find((line) => line.includes(text))?.indexOf(text);
  expect(columns('9000')).toBe(columns('debug'));
  expect(columns('from --port')).toBe(columns('from --log-level'));
});

it('masks every secret, and those of plugins', () => {
  const env = {
    INCONTEXT_UPSTREAM_API_KEY: 'hush-1',
    INCONTEXT_TOKENIZER_API_KEY: 'hush-2',
    INCONTEXT_API_KEYS: 'hush-3,hush-4',
    INCONTEXT_ADMIN_TOKEN: 'hush-5',
  };
  const summary = summaryOf({
    env,
    yaml: 'backends: { acme: { key: hush-6 } }\nengines: { lcm: { key: hush-7 } }',
  });
  expect(summary).not.toContain('hush');
  expect(lineOf(summary, 'admin_token')).toBe('admin_token *** from INCONTEXT_ADMIN_TOKEN');
  expect(lineOf(summary, 'backends')).toBe('backends acme from the file');
});

it('masks the query of a URL, which may hold a key', () => {
  const summary = summaryOf({ flags: { 'tokenizer-url': 'http://t/tokenize?key=hush#hush' } });
  expect(lineOf(summary, 'tokenizer_url')).toBe('tokenizer_url http://t/tokenize?*** from --tokenizer-url');
});

it('leaves out what only an engine reads where there is none, unless it is given', () => {
  expect(lineOf(summaryOf({ flags: { engine: 'none' } }), 'threshold')).toBeUndefined();
  expect(lineOf(summaryOf({ flags: { engine: 'none', threshold: '0.5' } }), 'threshold')).toBe(
    'threshold 0.5 from --threshold',
  );
  expect(lineOf(summaryOf({}), 'threshold')).toBe('threshold 0.75');
});

it('names models and plugins', () => {
  const summary = summaryOf({ yaml: 'models: { a: { threshold: 1 }, b: {} }\nplugins: [ ./mine.js ]' });
  expect(lineOf(summary, 'models')).toBe('models a, b from the file');
  expect(lineOf(summary, 'plugins')).toBe('plugins ./mine.js from the file');
});
