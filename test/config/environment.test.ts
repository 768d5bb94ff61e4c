import { expect, it } from 'vitest';
import { loadFrom, problemsFrom, settingsFrom } from './load-from.js';

it('accepts two spellings of a name that agree', () => {
  const env = { INCONTEXT_PORT: '9', incontext_port: '9' };
  expect(settingsFrom({ env }).server.port).toBe(9);
});

it('refuses two spellings that differ, and names both', () => {
  const env = { INCONTEXT_PORT: '9', incontext_port: '10' };
  expect(problemsFrom({ env })).toMatchObject([
    { setting: 'INCONTEXT_PORT and incontext_port', value: '"9" and "10"' },
  ]);
});

it('shows no secret when its two spellings differ', () => {
  const env = { INCONTEXT_ADMIN_TOKEN: 'hush-1', incontext_admin_token: 'hush-2' };
  expect(JSON.stringify(problemsFrom({ env }))).not.toContain('hush');
});

it('ignores an unknown variable with a warning that names the nearest setting', () => {
  const loaded = loadFrom({ env: { INCONTEXT_MIN_OUTPUT_TOKEN: 'hush', Incontext_Upstream_Uri: 'x' } });
  expect(loaded.ok).toBe(true);
  expect(loaded.warnings).toEqual([
    'INCONTEXT_MIN_OUTPUT_TOKEN is ignored: did you mean INCONTEXT_MIN_OUTPUT_TOKENS?',
    'INCONTEXT_UPSTREAM_URI is ignored: did you mean INCONTEXT_UPSTREAM_URL?',
  ]);
});

it('says where a setting belongs that the environment cannot give', () => {
  const { warnings } = loadFrom({ env: { INCONTEXT_MODEL_THRESHOLDS: '{}' } });
  expect(warnings).toEqual([
    'INCONTEXT_MODEL_THRESHOLDS is ignored: compression.model_thresholds is given in the configuration file',
  ]);
});

it('warns about nothing else in the environment', () => {
  expect(loadFrom({ env: { PATH: '/bin', HERMES_HOME: '/h', XINCONTEXT_PORT: '1' } }).warnings).toEqual([]);
});

it('refuses an empty text by name', () => {
  const env = { INCONTEXT_HOST: '', INCONTEXT_ENGINE: ' ', INCONTEXT_API_KEYS: '' };
  const settings = problemsFrom({ env }).map(({ setting }) => setting);
  expect(settings).toEqual(['INCONTEXT_HOST', 'INCONTEXT_API_KEYS', 'INCONTEXT_ENGINE']);
});

it('lets variables of others differ only in their case', () => {
  const env = { http_proxy: 'http://a:1', HTTP_PROXY: 'http://b:2', Path: '/a', PATH: '/b' };
  expect(loadFrom({ env })).toMatchObject({ ok: true, warnings: [] });
});
