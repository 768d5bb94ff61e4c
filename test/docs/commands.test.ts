import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadCommandSettings } from '../../src/cli/command-settings.js';
import { SECTIONS } from '../../src/config/setting.js';
import { type Block, pagePaths, ROOT, readPage } from './support/markdown.js';
import { Reader } from './support/reader.js';
import { expectShown } from './support/shown.js';

/** Commands that no test can run here, and why. */
const NOT_HERE: readonly { readonly command: RegExp; readonly why: string }[] = [
  {
    command: /^npm (ci|install)\b/,
    why: 'it would replace the packages that this test runs on; .ci/run begins with it',
  },
  { command: /^docker /, why: 'it needs a Docker engine and a GPU' },
  { command: /^kubectl /, why: 'it needs a cluster' },
  {
    command: /^(npx )?incontext-proxy /,
    why: 'of an installed package; test/packaging/without-a-clone.test.ts, test/backends/plugins.test.ts',
  },
];
const FILE_NAME = /^(?:#|\/\/) ([\w.-]+\.(?:ya?ml|m?js|json))\b/;
const FILE_KEYS: readonly string[] = [...SECTIONS, 'models', 'plugins', 'backends', 'engines'];
const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

function isShown(block: Block | undefined): block is Block {
  return block?.language === 'text' || block?.language === 'json';
}

describe.each(pagePaths())('%s', (path) => {
  const { blocks } = readPage(path);
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.arrive();
  });
  afterAll(() => reader.leave());

  blocks.forEach((block, index) => {
    const title = `line ${block.line}, ${block.heading}: ${block.text.split('\n')[0]}`;
    const next = blocks[index + 1];
    if (block.language === 'sh') test(`runs ${title}`, () => runs(block, isShown(next) ? next : undefined));
    if (block.language === 'json') test(`is JSON, ${title}`, () => void JSON.parse(block.text));
    if (block.language === 'yaml') test(`is a file that works, ${title}`, () => isFile(block));
    if (block.language === 'js') test(`is a module, ${title}`, () => isModule(block));
    if (block.language === 'ts')
      test(`runs ${title}`, () => isProgram(block, isShown(next) ? next : undefined));
    if (block.language === 'python' && HAS_PYTHON) test(`compiles, ${title}`, () => isPython(block));
  });

  test('has blocks of languages only that are run or read here', () => {
    const known = ['', 'sh', 'text', 'json', 'yaml', 'js', 'ts', 'python'];
    expect(blocks.filter(({ language }) => !known.includes(language)).map(({ line }) => line)).toEqual([]);
  });

  async function runs({ text }: Block, shown: Block | undefined): Promise<void> {
    if (NOT_HERE.some(({ command }) => command.test(text))) return expectScripts(text);
    const seen = await reader.run(text);
    if (shown === undefined) expect(seen).not.toMatch(/^(curl:|incontext-proxy: |bash: )/m);
    else expectShown(seen, shown);
  }

  /** Configuration is loaded as the command would; any other file is read. */
  function isFile({ text }: Block): void {
    const content: unknown = parse(text);
    expect(content).toBeTypeOf('object');
    const name = FILE_NAME.exec(text)?.[1];
    if (name !== undefined) reader.save(name, text);
    if (!Object.keys(content as object).every((key) => FILE_KEYS.includes(key))) return;
    const loaded = loadCommandSettings({
      flags: { config: 'page.yaml' },
      env: { INCONTEXT_UPSTREAM_URL: 'http://127.0.0.1:8000' },
      readFile: () => text,
      cwd: ROOT,
    });
    expect(loaded).toMatchObject({ ok: true });
  }

  async function isModule({ text }: Block): Promise<void> {
    const name = FILE_NAME.exec(text)?.[1] ?? 'module.mjs';
    reader.save(name, text);
    expect(await reader.program(`node --check ${name}`)).toBe('');
  }

  async function isProgram({ text }: Block, shown: Block | undefined): Promise<void> {
    reader.save('program.mjs', text);
    const seen = await reader.program('node program.mjs || echo failed');
    expect(seen).not.toContain('failed');
    if (shown !== undefined) expectShown(seen, shown);
  }

  function isPython({ text }: Block): void {
    reader.save('program.py', text);
    execFileSync('python3', ['-m', 'py_compile', join(reader.folder, 'program.py')]);
  }
});

function expectScripts(text: string): void {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, name] of text.matchAll(/npm (?:run (\S+)|test\b)/g)) {
    expect(Object.keys(scripts)).toContain(name ?? 'test');
  }
}
