import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadFrom, settingsFrom } from './load-from.js';
import { sampleFile } from './sample-file.js';

const path = new URL('../../config/incontext.yaml', import.meta.url).pathname;
const text = () => readFileSync(path, 'utf8');

// `npx vitest run test/config/sample-file.test.ts -u` writes it anew.
it('is the file that the table of settings describes', async () => {
  await expect(sampleFile()).toMatchFileSnapshot(path);
});

it('changes nothing: it states the defaults', () => {
  expect({ ...settingsFrom({ yaml: text() }), pluginsBase: '' }).toEqual({
    ...settingsFrom({ env: { INCONTEXT_UPSTREAM_URL: 'http://127.0.0.1:8000' } }),
    pluginsBase: '',
  });
});

it('works with every commented setting switched on', () => {
  const everything = text().replace(/^ {2}# ([a-z_]+: )/gm, '  $1');
  const loaded = loadFrom({
    yaml: everything,
    files: { '/etc/ssl/upstream-ca.pem': '-----BEGIN CERTIFICATE-----\n' },
  });
  expect(loaded).toMatchObject({
    ok: true,
    settings: { budget: { contextLength: 131072 }, server: { apiKeys: ['key-one', 'key-two'] } },
  });
});
