import { expect, it } from 'vitest';
import { loadFrom, problemsFrom, settingsFrom } from './load-from.js';

const yaml = 'server: { port: 1 }\ntokenizer: { tokenizer_timeout_seconds: 1 }\n';

it('prefers a flag to the environment, the environment to the file, the file to the default', () => {
  const env = { INCONTEXT_PORT: '2' };
  const flags = { port: '3' };
  expect(settingsFrom({ yaml, env, flags }).server.port).toBe(3);
  expect(settingsFrom({ yaml, env }).server.port).toBe(2);
  expect(settingsFrom({ yaml }).server.port).toBe(1);
  expect(settingsFrom({}).server.port).toBe(8787);
});

it('says of every setting where it came from', () => {
  const loaded = loadFrom({ yaml, env: { Incontext_Host: '::1' }, flags: { data: '/var/data' } });
  expect(loaded.ok && Object.fromEntries(loaded.sources)).toMatchObject({
    PORT: { origin: 'file', writtenAs: 'server.port in incontext.yaml', shown: '1' },
    HOST: { origin: 'environment', writtenAs: 'Incontext_Host', shown: '::1' },
    DATA_DIR: { origin: 'flag', writtenAs: '--data', shown: '/var/data' },
    CONFIG: { origin: 'flag', writtenAs: '--config', shown: 'incontext.yaml' },
    LOG_LEVEL: { origin: 'default', writtenAs: 'default', shown: 'info' },
    CONTEXT_LENGTH: { origin: 'default', shown: undefined },
  });
});

it('lets a flag repair a bad value of the environment or the file', () => {
  const env = { INCONTEXT_PORT: 'x' };
  expect(settingsFrom({ yaml: 'server: { port: y }', env, flags: { port: '0' } }).server.port).toBe(0);
});

it('prefers a primary name to an alias, however bad the alias', () => {
  const alias = { HERMES_VLLM_TOKENIZER_TIMEOUT_SECONDS: 'x' };
  const env = { ...alias, INCONTEXT_TOKENIZER_TIMEOUT_SECONDS: '2' };
  expect(settingsFrom({ env }).tokenizer.timeoutSeconds).toBe(2);
  expect(problemsFrom({ env: alias })).toMatchObject([{ setting: 'HERMES_VLLM_TOKENIZER_TIMEOUT_SECONDS' }]);
});

it('prefers an alias in the environment to the file', () => {
  const env = { HERMES_VLLM_TOKENIZER_TIMEOUT_SECONDS: '5' };
  expect(settingsFrom({ yaml, env }).tokenizer.timeoutSeconds).toBe(5);
});

it('takes the file that the environment names, and a flag before it', () => {
  const files = { '/srv/a.yaml': 'server: { port: 1 }', '/srv/b.yaml': 'server: { port: 2 }' };
  const env = { INCONTEXT_CONFIG: 'a.yaml' };
  expect(settingsFrom({ env, files }).server.port).toBe(1);
  expect(settingsFrom({ env, files, flags: { config: '/srv/b.yaml' } }).server.port).toBe(2);
});

it('resolves folders from the working directory, plugins from the file', () => {
  const files = { '/etc/incontext/a.yaml': 'server: { data_dir: d }\ncontext: { plugins_dir: p }' };
  const settings = settingsFrom({ files, flags: { config: '/etc/incontext/a.yaml' } });
  expect(settings).toMatchObject({
    server: { dataDir: '/srv/d' },
    context: { pluginsDir: '/srv/p' },
    pluginsBase: '/etc/incontext',
  });
});
