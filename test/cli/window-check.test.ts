import { describe, expect, it } from 'vitest';
import { loadCommandSettings } from '../../src/cli/command-settings.js';
import { windowProblems } from '../../src/cli/window-check.js';
import type { Flags } from '../../src/config/flags.js';
import { type LoadInput, loadSettings } from '../../src/config/load.js';
import type { SettingProblem } from '../../src/config/problem.js';

function inputOf(flags: Flags, yaml: string): LoadInput {
  const given = { upstream: 'http://u', config: 'incontext.yaml', engine: 'none', ...flags };
  return { flags: given, env: {}, cwd: '/srv', readFile: () => yaml };
}

/** For whichever engine, as if there were one of that name. */
function problemsOf(flags: Flags, yaml = ''): readonly SettingProblem[] {
  const loaded = loadSettings({ ...inputOf(flags, yaml), checkBudget: windowProblems });
  return loaded.ok ? [] : loaded.problems;
}

describe('a start is refused when margin and reserve fill the window', () => {
  it('exactly: the sum must be less than the context length without an engine', () => {
    expect(problemsOf({ 'context-length': '5120' })).toMatchObject([
      {
        setting: 'INCONTEXT_FALLBACK_MARGIN_TOKENS + INCONTEXT_MIN_OUTPUT_TOKENS',
        value: '1024 + 4096',
        rule: expect.stringContaining('5120'),
      },
    ]);
    expect(problemsOf({ 'context-length': '5121' })).toEqual([]);
  });

  it('of the part that an engine compresses at', () => {
    const flags = { engine: 'compressor', threshold: '0.5' };
    expect(problemsOf({ ...flags, 'context-length': '10241' })).toHaveLength(1);
    expect(problemsOf({ ...flags, 'context-length': '10242' })).toEqual([]);
  });

  it('of the stated window, which is never above the context length', () => {
    const stated = { 'compression-window-tokens': '5120' };
    expect(problemsOf({ ...stated, 'context-length': '100000' })).toHaveLength(1);
    expect(problemsOf({ 'compression-window-tokens': '100000', 'context-length': '5000' })).toHaveLength(1);
    expect(problemsOf(stated)).toEqual([]);
  });

  it('unless an operator-wide cap lowers the reserve', () => {
    expect(problemsOf({ 'context-length': '5120', 'max-output-tokens': '4095' })).toEqual([]);
  });

  it('of a single model, by its own values or its part of the name', () => {
    const model = (body: string) => problemsOf({}, `models: { Qwen/Qwen3-8B: { ${body} } }`);
    expect(model('context_length: 5120')[0]?.rule).toContain('Qwen/Qwen3-8B');
    expect(model('context_length: 5120, min_output_tokens: 4095')).toEqual([]);
    expect(model('context_length: 5120, max_output_tokens: 10')).toEqual([]);
    expect(model('min_output_tokens: 999999')).toEqual([]);
    const byName = 'compression: { model_thresholds: { Qwen3: 0.5, Qwen: 1 } }\nmodels: { Qwen3-8B: {} }';
    expect(problemsOf({ engine: 'compressor', 'context-length': '10000' }, byName)).toMatchObject([
      { rule: expect.stringContaining('of model Qwen3-8B, 5000 tokens') },
    ]);
    const own = byName.replace('{} }', '{ threshold: 1 } }');
    expect(problemsOf({ engine: 'compressor', 'context-length': '10000' }, own)).toEqual([]);
  });
});

it('names values that would fit, the length as the user wrote it', () => {
  const [problem] = problemsOf({ 'context-length': '5000' });
  expect(problem?.rule).toBe('must be less than the window, 5000 tokens by --context-length 5000');
  expect(problem?.example).toBe(
    'INCONTEXT_MIN_OUTPUT_TOKENS=3975, or INCONTEXT_FALLBACK_MARGIN_TOKENS=903, or --context-length 5121',
  );
  expect(problemsOf({ 'context-length': '5000', 'min-output-tokens': '3975' })).toEqual([]);
  expect(problemsOf({ 'context-length': '5000', 'fallback-margin-tokens': '903' })).toEqual([]);
  expect(problemsOf({ 'context-length': '5121' })).toEqual([]);
  expect(problemsOf({ 'context-length': '1' })[0]?.example).toBe('--context-length 5121');
});

it('names reserve and margin as the user wrote them too', () => {
  const flags = { 'context-length': '5000', 'min-output-tokens': '4500' };
  const [problem] = problemsOf(flags, 'budget: { fallback_margin_tokens: 600 }');
  expect(problem?.setting).toBe('budget.fallback_margin_tokens in incontext.yaml + --min-output-tokens');
  expect(problem?.example).toBe(
    '--min-output-tokens 4399, or budget.fallback_margin_tokens: 499 in incontext.yaml, or --context-length 5101',
  );
});

describe('the window that would fit is named by the setting that makes it', () => {
  const exampleOf = (flags: Flags, yaml = '') => problemsOf(flags, yaml)[0]?.example;

  it('in the file, and for one model', () => {
    expect(exampleOf({}, 'budget: { context_length: 5000 }')).toMatch(
      /, or budget.context_length: 5121 in incontext.yaml$/,
    );
    expect(exampleOf({}, 'models: { m: { context_length: 5000 } }')).toMatch(
      /, or models.m.context_length: 5121$/,
    );
    expect(
      exampleOf({}, 'budget: { context_length: 9999 }\nmodels: { m: { min_output_tokens: 9000 } }'),
    ).toMatch(/^models.m.min_output_tokens: 8974, .*, or budget.context_length: 10025 in incontext.yaml$/);
  });

  it('where the window is stated', () => {
    const stated = { 'compression-window-tokens': '5000' };
    const [problem] = problemsOf({ ...stated, 'context-length': '9000' });
    expect(problem?.rule).toContain('5000 tokens by --compression-window-tokens 5000');
    expect(problem?.example).toMatch(/, or --compression-window-tokens 5121$/);
    expect(exampleOf({ ...stated, 'context-length': '5100' })).toMatch(
      /, or --compression-window-tokens 5121 with --context-length 5121$/,
    );
    expect(exampleOf({ 'compression-window-tokens': '9000', 'context-length': '5100' })).toMatch(
      /, or --context-length 5121$/,
    );
  });

  it('with the context length of which an engine takes a part', () => {
    const flags = { engine: 'compressor', threshold: '0.7' };
    const length = /--context-length (\d+)$/.exec(
      exampleOf({ ...flags, 'context-length': '5000' }) ?? '',
    )?.[1];
    expect(problemsOf({ ...flags, 'context-length': String(length) })).toEqual([]);
    expect(problemsOf({ ...flags, 'context-length': String(Number(length) - 1) })).toHaveLength(1);
  });
});

it('of an engine that is not bundled is refused only where it is too small for any', () => {
  const settingsOf = (flags: Flags) => {
    const loaded = loadCommandSettings(inputOf({ engine: 'foo', ...flags }, ''));
    return loaded.ok ? [] : loaded.problems.map(({ setting }) => setting);
  };
  expect(settingsOf({ 'context-length': '5120' })).toHaveLength(1);
  expect(settingsOf({ 'context-length': '5121' })).toEqual([]);
});

it('is reported beside other problems, and not worked out from a budget that is refused itself', () => {
  expect(problemsOf({ 'context-length': '5120', port: '-1' })).toHaveLength(2);
  expect(problemsOf({ 'context-length': '5120', 'min-output-tokens': 'x' })).toHaveLength(1);
  expect(problemsOf({ 'context-length': '5120' }, 'budget: { min_output_token: 1 }')).toHaveLength(1);
  expect(problemsOf({ 'context-length': '5120' }, 'bugdet: { min_output_tokens: 1 }')).toHaveLength(1);
  expect(problemsOf({ 'context-length': '5120' }, 'sever: { port: 1 }')).toHaveLength(2);
});
