import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { ContextEngine, overrides } from '../../src/engines/contract.js';
import { createEngineRegistry } from '../../src/engines/registry.js';
import { classText, engineContextOf, PluginFolder } from './support/plugin-folder.js';

let folder: PluginFolder;
beforeEach(() => {
  folder = new PluginFolder();
});
afterEach(() => folder.remove());
afterAll(() => {
  Reflect.deleteProperty(globalThis, 'imported');
});

async function choose(name: string, plugins: readonly string[] = [], options?: unknown) {
  const { engines, refused } = await folder.load(...plugins);
  expect(refused).toEqual([]);
  return engines.choose(name, engineContextOf(options));
}

const WAYS_OF_A_FOLDER = [
  ['a class', classText('mine')],
  [
    'a class that extends a base class of its own',
    `class Base { compress() {} }\nexport class Mine extends Base { get name() { return 'mine'; } }`,
  ],
  ['a factory', `export const createEngine = () => ({ name: 'mine', compress: (messages) => messages });`],
  [
    'an asynchronous factory',
    `export async function createEngine() { return { name: 'mine', compress: (messages) => messages }; }`,
  ],
  [
    'register',
    `export function register(ctx) { ctx.registerContextEngine({ name: 'mine', compress: (m) => m }); }`,
  ],
  [
    'register with the base class of the proxy',
    `export async function register({ registerContextEngine, ContextEngine }) {
    registerContextEngine(class extends ContextEngine { name = 'mine'; compress = (messages) => messages; });
  }`,
  ],
] as const;

test.each(WAYS_OF_A_FOLDER)(
  'a folder with %s is an engine by the name of the folder',
  async (_way, module) => {
    folder.engine('mine', module);
    const { name, origin, prototype } = await choose('mine');
    expect({ name, origin }).toEqual({
      name: 'mine',
      origin: `the folder ${join(folder.pluginsDir, 'mine')}`,
    });
    expect(prototype.getStatus()).toMatchObject({ threshold_tokens: 0, compression_count: 0 });
  },
);

const WAYS_OF_A_PACKAGE = [
  ['a class', classText('mine')],
  [
    'register with a class and a name',
    `${classText('mine')}\nexport const register = (ctx) => ctx.registerContextEngine(Engine, 'mine');`,
  ],
  [
    'register with a class alone',
    `${classText('mine')}\nexport const register = (ctx) => ctx.registerContextEngine(Engine);`,
  ],
  [
    'register with a factory',
    `export const register = (ctx) => ctx.registerContextEngine(() => ({ name: 'mine', compress() {} }), 'mine');`,
  ],
  [
    'register with an instance',
    `export const register = (ctx) => ctx.registerContextEngine({ name: 'mine', compress() {} });`,
  ],
] as const;

test.each(WAYS_OF_A_PACKAGE)('a listed plugin with %s has an engine', async (_way, module) => {
  folder.write('plugin.mjs', module);
  expect(await choose('mine', ['./plugin.mjs'])).toMatchObject({
    name: 'mine',
    origin: 'the plugin "./plugin.mjs"',
  });
});

test('one plugin may bring a backend and an engine', async () => {
  folder.write(
    'both.mjs',
    `export function register(ctx) {
      ctx.registerBackend('mine', () => ({}));
      ctx.registerContextEngine({ name: 'mine', compress() {} });
    }`,
  );
  const { backends, engines } = await folder.load('./both.mjs');
  expect(backends.names()).toContain('mine');
  expect(engines.names()).toContain('mine');
});

test('the first of a name wins: bundled, then folders, then listed plugins; the others are a warning', async () => {
  folder.engine('none', classText('none'));
  folder.engine('mine', classText('mine'));
  folder.write(
    'a.mjs',
    `${classText('mine')}\nexport const register = (ctx) => ctx.registerContextEngine(Engine, 'mine');`,
  );
  const { engines, refused } = await folder.load('./a.mjs');
  expect({ refused, names: engines.names() }).toMatchObject({
    refused: [],
    names: expect.arrayContaining(['none', 'mine']),
  });
  const path = (name: string) => `the folder ${join(folder.pluginsDir, name)}`;
  expect(engines.warnings).toEqual([
    `a second context engine "none", of ${path('none')}, is refused: the proxy has one`,
    `a second context engine "mine", of the plugin "./a.mjs", is refused: ${path('mine')} has one`,
  ]);
  expect((await engines.choose('mine', engineContextOf())).origin).toBe(path('mine'));
});

test('a name that is bundled is not to be had by a plugin', async () => {
  const registry = createEngineRegistry(
    new Map([
      [
        'own',
        () =>
          new (class extends ContextEngine {
            override readonly name = 'own';
            override compress = () => [];
          })(),
      ],
    ]),
  );
  registry.register({ name: 'own', compress: () => [] }, undefined, 'the plugin "x"');
  expect(registry.warnings).toEqual([
    'a second context engine "own", of the plugin "x", is refused: the proxy has one',
  ]);
  expect((await registry.choose('own', engineContextOf())).origin).toBe('the proxy');
});

test('the code of a folder that is not chosen never runs, and nothing is built that is not chosen', async () => {
  Reflect.set(globalThis, 'imported', []);
  folder.engine('other', `globalThis.imported.push('other'); ${classText('other')}`);
  folder.engine('mine', `globalThis.imported.push('mine'); ${classText('mine')}`);
  folder.write(
    'c.mjs',
    `export const register = (ctx) => ctx.registerContextEngine(() => { globalThis.imported.push('built'); }, 'third');`,
  );
  await choose('mine', ['./c.mjs']);
  expect(Reflect.get(globalThis, 'imported')).toEqual(['mine']);
});

const BROKEN_FOLDERS = [
  ['without plugin.yaml', undefined, 'has no plugin.yaml'],
  ['with a plugin.yaml that is no YAML', 'name: [', 'has a plugin.yaml that is no valid YAML'],
  ['with a plugin.yaml that is a list', '- a', 'has a plugin.yaml that is no mapping'],
  ['with a plugin.yaml without a name', 'version: 1', 'has a plugin.yaml that has no name'],
  ['with a name that is no text', 'name: [ a ]', 'has a plugin.yaml that has a name that is no text'],
  ['under another name', 'name: other', 'is named "other" in its plugin.yaml'],
] as const;

test.each(BROKEN_FOLDERS)(
  'a folder %s is a warning, and an error where it is chosen',
  async (_what, manifest, fault) => {
    if (manifest === undefined) folder.write('engines/broken/index.js', '');
    else folder.engine('broken', classText('broken'), manifest);
    folder.engine('mine', classText('mine'));
    const { engines } = await folder.load();
    expect(engines.warnings).toEqual([expect.stringContaining(`broken ${fault}`)]);
    expect((await engines.choose('mine', engineContextOf())).name).toBe('mine');
    await expect(engines.choose('broken', engineContextOf())).rejects.toThrow(fault);
  },
);

test("a folder without index.js cannot be used; what is no engine at all is nobody's business", async () => {
  folder.write('engines/broken/plugin.yaml', 'name: broken');
  folder.write('engines/.git/index.js', '');
  folder.write('engines/notes/readme.txt', '');
  folder.write('engines/file.txt', '');
  const { engines } = await folder.load();
  expect(engines.warnings).toEqual([expect.stringContaining('broken has no index.js')]);
});

const BROKEN_MODULES = [
  ['a syntax error', 'export const = 1;', 'cannot be loaded'],
  ['a module that throws', "throw new Error('bad day');", 'cannot be loaded: bad day'],
  ['no engine', 'export const other = 1;', 'exports no context engine'],
  ['an engine of another name', classText('other'), 'is named "other", not "mine"'],
  [
    'a class that cannot be built',
    classText('mine', "constructor() { throw new Error('no luck'); }"),
    'cannot be built: no luck',
  ],
  [
    'a factory that gives no engine',
    "export const createEngine = () => ({ name: 'mine' });",
    'is no context engine',
  ],
  ['register without an engine', 'export const register = () => {};', 'exports no context engine'],
  [
    'register with nonsense',
    'export const register = (ctx) => ctx.registerContextEngine(3);',
    'registerContextEngine needs',
  ],
  [
    'register of a backend',
    "export const register = (ctx) => ctx.registerBackend('b', () => {});",
    'registerBackend is not a function',
  ],
] as const;

test.each(BROKEN_MODULES)(
  'a chosen folder with %s fails the start and says where',
  async (_what, module, message) => {
    folder.engine('mine', module);
    const chosen = choose('mine');
    await expect(chosen).rejects.toMatchObject({ name: 'EngineRegistryError' });
    await expect(chosen).rejects.toThrow(message);
    await expect(chosen).rejects.toThrow(join(folder.pluginsDir, 'mine'));
  },
);

test('an engine that is not found fails the start with all places where it was looked for', async () => {
  folder.engine('one', classText('one'));
  folder.write('two.mjs', classText('two'));
  await expect(choose('three', ['./two.mjs'])).rejects.toThrow(
    new RegExp(
      `^there is no context engine "three": looked among the bundled \\(none.*\\), in the folder ${folder.pluginsDir} ` +
        '\\(one\\), in the plugins \\(./two.mjs\\); the context engine of the plugin "./two.mjs" is named "two", not "three"$',
    ),
  );
});

test('a folder of plugins that cannot be read is a warning', async () => {
  const registry = createEngineRegistry();
  await registry.registerFolders('/nowhere/engines');
  expect(registry.warnings).toEqual(['the folder of context engines /nowhere/engines cannot be read']);
});

test('an engine refuses its settings in its own words, whichever copy of the error it throws', async () => {
  const problem = { setting: 'engines.mine.keep', value: '0', rule: 'must be 1 or more', example: '4' };
  folder.engine(
    'mine',
    `export const register = ({ registerContextEngine, errors }) => registerContextEngine(({ options }) => {
    throw new errors.EngineSettingsError([{ ...${JSON.stringify(problem)}, value: String(options.keep) }]);
  });`,
  );
  await expect(choose('mine', [], { keep: 0 })).rejects.toMatchObject({
    name: 'EngineSettingsError',
    problems: [problem],
  });
  folder.write(
    'foreign.mjs',
    `class EngineSettingsError extends Error { name = 'EngineSettingsError'; problems = [${JSON.stringify({ ...problem, setting: 'engines.far.keep' })}]; }
    export const createEngine = () => { throw new EngineSettingsError(); };`,
  );
  const refused = choose('far', ['./foreign.mjs']);
  await expect(refused).rejects.toMatchObject({
    name: 'EngineSettingsError',
    problems: [{ setting: 'engines.far.keep' }],
  });
});

test('an engine without a base class has every member, and its hooks cost nothing', async () => {
  folder.engine(
    'mine',
    classText('mine', 'lastPromptTokens = 7; #secret = 1; shouldCompress() { return this.#secret === 1; }'),
  );
  const { prototype } = await choose('mine');
  expect(prototype).toMatchObject({ lastPromptTokens: 7, compressionCount: 0, toolInjection: 'always' });
  prototype.updateModel('m', 1000);
  expect(prototype.thresholdTokens).toBe(750);
  expect(prototype.shouldCompress()).toBe(true);
  expect(JSON.parse(String(prototype.handleToolCall('x', {})))).toEqual({ error: 'Unknown tool: x' });
  expect(overrides(prototype, 'selectContext')).toBe(false);
  expect(overrides(prototype, 'shouldCompress')).toBe(true);
});

test('the defaults of another copy of the base class cost nothing either', async () => {
  folder.engine(
    'mine',
    `class ContextEngine { selectContext() {} onTurnComplete() {} }
    export class Mine extends ContextEngine { name = 'mine'; compress(messages) { return messages; } onTurnComplete() {} }`,
  );
  const { prototype } = await choose('mine');
  expect(overrides(prototype, 'selectContext')).toBe(false);
  expect(overrides(prototype, 'onTurnComplete')).toBe(true);
});

test('what is no engine, or has a blank name, cannot be registered', () => {
  const registry = createEngineRegistry();
  for (const value of [undefined, 3, {}, { name: '', compress() {} }, { name: 'x' }]) {
    expect(() => registry.register(value as never, undefined, 'x')).toThrow(TypeError);
  }
  expect(() => registry.register(() => ({ name: 'x', compress: () => [] }), ' ', 'x')).toThrow('not blank');
});
