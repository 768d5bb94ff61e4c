import { expect, test } from 'vitest';
import { createCompressor } from '../../../src/engines/compressor/compressor.js';
import { readSettings } from '../../../src/engines/compressor/settings.js';
import { EngineSettingsError } from '../../../src/engines/engine-settings-error.js';
import { inertServices } from '../../../src/engines/inert-services.js';

test('without a block everything has a default', () => {
  expect(readSettings(undefined)).toMatchObject({
    tail_share: 0.16,
    ledger_share: 0.25,
    summary_timeout_seconds: 60,
  });
  expect(readSettings({ tail_share: 0.3 })).toMatchObject({ tail_share: 0.3, ledger_share: 0.25 });
});

test('tells every setting that is wrong, at once', async () => {
  const options = { tail_share: 2, summary_max_tokens: 'many', tale_share: 0.1 };
  const compression = { threshold: 0.75, protectFirstN: 3, protectLastN: 20 };
  const build = async () => createCompressor({ options, compression, services: inertServices() });
  const error: unknown = await build().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(EngineSettingsError);
  const settings = (error as EngineSettingsError).problems.map(({ setting }) => setting).sort();
  expect(settings).toEqual([
    'engines.compressor.summary_max_tokens',
    'engines.compressor.tail_share',
    'engines.compressor.tale_share',
  ]);
});

test('a block that is no mapping is refused', () => {
  expect(() => readSettings('small')).toThrow(EngineSettingsError);
});
