import { expect, test } from 'vitest';
import { registerBundledBackends } from '../../src/backends/bundled.js';
import type { Backend } from '../../src/backends/contract.js';
import { createBackendRegistry } from '../../src/backends/registry.js';
import { contextFor } from './support/contexts.js';

const backend: Backend = {
  source: 'test',
  describe: async () => undefined,
  count: async () => ({ tokens: 1 }),
  clearCache: () => {},
};

test('only the selected backend is constructed', async () => {
  const built: string[] = [];
  const registry = createBackendRegistry();
  for (const name of ['a', 'b']) {
    registry.register(name, async () => {
      built.push(name);
      return backend;
    });
  }
  expect(await registry.create('b', contextFor('http://u'))).toBe(backend);
  expect(built).toEqual(['b']);
  expect(registry.names()).toEqual(['a', 'b']);
});

test('an unknown name fails and lists the known ones', async () => {
  const registry = createBackendRegistry();
  await expect(registry.create('vllm', contextFor('http://u'))).rejects.toThrow('known are: none');
  registerBundledBackends(registry);
  registry.register('b', () => backend);
  await expect(registry.create('vlm', contextFor('http://u'))).rejects.toThrow(
    'there is no backend "vlm"; known are: vllm, llamacpp, estimate, auto, b',
  );
});

test('a name cannot be taken twice, nor be blank', () => {
  const registry = createBackendRegistry();
  registry.register('a', () => backend);
  expect(() => registry.register('a', () => backend)).toThrow('two backends are registered as "a"');
  for (const name of ['', '  ']) expect(() => registry.register(name, () => backend)).toThrow('not blank');
});

test('a factory that gives no backend fails the start', async () => {
  const registry = createBackendRegistry();
  const { clearCache: _, ...incomplete } = backend;
  registry.register('incomplete', () => incomplete as Backend);
  registry.register('sourceless', () => ({ ...backend, source: '' }));
  for (const name of ['incomplete', 'sourceless']) {
    await expect(registry.create(name, contextFor('http://u'))).rejects.toThrow(
      `the backend "${name}" lacks`,
    );
  }
});

test('the bundled vllm backend refuses settings it does not know and odd cache sizes, all at once', async () => {
  const registry = createBackendRegistry();
  registerBundledBackends(registry);
  const refused = registry.create(
    'vllm',
    contextFor('http://u', { cacheEntries: 0 }, { options: { tokenizer_key: 'SECRET-1' } }),
  );
  await expect(refused).rejects.toMatchObject({
    name: 'BackendSettingsError',
    problems: [
      { setting: 'backends.vllm.tokenizer_key' },
      { setting: 'tokenizer_cache_entries', value: '0' },
    ],
  });
  await expect(refused).rejects.not.toThrow('SECRET-1');
  for (const options of [undefined, null, {}]) {
    expect((await registry.create('vllm', contextFor('http://u', {}, { options }))).source).toBe(
      'vllm-tokenize',
    );
  }
  await expect(registry.create('vllm', contextFor('http://u', {}, { options: [] }))).rejects.toThrow(
    'backends.vllm',
  );
});
