import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTING_NAMES, settingOf } from '../../src/config/table.js';
import { loadFrom } from '../config/load-from.js';
import { readPage } from '../docs/support/markdown.js';
import { configSchema, type JsonSchema, layOut } from './support/config-schema.js';
import { PACKAGE } from './support/paths.js';

const CONFIG = fileURLToPath(new URL('../../config/', import.meta.url));
const sample = readFileSync(`${CONFIG}incontext.yaml`, 'utf8');
const accepts = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(configSchema());

// `npx vitest run test/packaging/config-schema.test.ts -u` writes it anew.
test('config/incontext.schema.json is what the table of settings says', async () => {
  await expect(layOut(configSchema())).toMatchFileSnapshot(`${CONFIG}incontext.schema.json`);
});

test('editors find the schema from the sample', () => {
  expect(sample.split('\n')[0]).toBe('# yaml-language-server: $schema=./incontext.schema.json');
});

describe('settings.md says how an editor finds it', () => {
  const block = readPage('docs/settings.md').blocks.find(({ text }) => text.includes('$schema='));
  const [, path = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(block?.text ?? '') ?? [];

  test('on the first line, by the path that an installed package has it at', () => {
    expect(block?.text.startsWith('# yaml-language-server: ')).toBe(true);
    expect(path).toBe('./node_modules/incontext-proxy/config/incontext.schema.json');
    expect(PACKAGE.files).toContain('config');
  });

  test('with a file that fits it', () => {
    expect(accepts(parse(block?.text ?? '')), JSON.stringify(accepts.errors)).toBe(true);
  });
});

test('the sample fits the schema, as it stands and with every setting switched on', () => {
  expect(accepts(parse(sample)), JSON.stringify(accepts.errors)).toBe(true);
  const everything = parse(sample.replace(/^( {2})# ([a-z_]+: )/gm, '$1$2'));
  expect(everything.server.api_keys).toBe('key-one,key-two');
  expect(accepts(everything), JSON.stringify(accepts.errors)).toBe(true);
});

test('every setting of the file is explained, with an example and a default that fit', () => {
  const sections = Object.values((configSchema() as { properties: Record<string, JsonSchema> }).properties);
  const settings = sections.flatMap(({ properties }) => Object.values((properties ?? {}) as JsonSchema[]));
  const inFile = SETTING_NAMES.filter((name) => settingOf(name).only !== 'command');
  expect(settings).toHaveLength(inFile.length);
  for (const setting of settings) {
    const fits = new Ajv({ allowUnionTypes: true }).compile(setting);
    const {
      description,
      examples,
      default: value,
    } = setting as { examples: unknown[]; [key: string]: unknown };
    expect(description).toMatch(/^[A-Z].*\. Range: .*\.$/);
    for (const each of value === undefined ? examples : [...examples, value]) {
      expect(fits(each), `${JSON.stringify(each)}: ${description}`).toBe(true);
    }
  }
});

describe('schema and program agree about', () => {
  const UPSTREAM = 'upstream: { upstream_url: "http://127.0.0.1:8000" }\n';
  const AGREED: [name: string, yaml: string, good: boolean][] = [
    ['the least that works', '', true],
    ['empty blocks', 'server:\nmodels:\nplugins:\nbackends:\n', true],
    ['sizes with a unit', 'server: { body_limit: 10 MB }\n', true],
    ['sizes in bytes', 'server: { body_limit: 1000 }\n', true],
    ['keys as a list', 'server: { api_keys: [one, two] }\n', true],
    ['days', 'sessions: { retention: 7d }\n', true],
    ['settings of a model', 'models: { m: { context_length: 4096, threshold: 0.5 } }\n', true],
    ['settings that belong to plugins', 'backends: { acme: { anything: [1] } }\n', true],
    ['an unknown section', 'sever: { port: 1 }\n', false],
    ['an unknown key', 'server: { prot: 1 }\n', false],
    ['a key of another section', 'server: { threshold: 0.5 }\n', false],
    ['an unknown key of a model', 'models: { m: { port: 1 } }\n', false],
    ['a port that is none', 'server: { port: 65536 }\n', false],
    ['half a token', 'budget: { min_output_tokens: 0.5 }\n', false],
    ['a share above one', 'compression: { threshold: 1.5 }\n', false],
    ['an unknown level', 'server: { log_level: loud }\n', false],
    ['a threshold of zero', 'compression: { model_thresholds: { m: 0 } }\n', false],
    ['a setting without a value', 'server:\n  port:\n', false],
    ['plugins that are no list', 'plugins: ./a.js\n', false],
  ];
  for (const [name, yaml, good] of AGREED) {
    test(`${name}: ${good ? 'right' : 'wrong'}`, () => {
      expect(loadFrom({ yaml: UPSTREAM + yaml }).ok).toBe(good);
      expect(accepts(parse(UPSTREAM + yaml))).toBe(good);
    });
  }
});
