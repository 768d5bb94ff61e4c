import { describe, expect, it } from 'vitest';
import { loadCommandSettings } from '../../src/cli/command-settings.js';
import type { Flags } from '../../src/config/flags.js';
import type { SettingProblem } from '../../src/config/problem.js';

function problemsOf(flags: Flags, yaml = ''): readonly SettingProblem[] {
  const given = { upstream: 'http://u', config: 'incontext.yaml', ...flags };
  const loaded = loadCommandSettings({ flags: given, env: {}, cwd: '/srv', readFile: () => yaml });
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

it('names values that would fit', () => {
  const example = problemsOf({ 'context-length': '5000' })[0]?.example ?? '';
  expect(example).toBe(
    'INCONTEXT_MIN_OUTPUT_TOKENS=3975, or INCONTEXT_FALLBACK_MARGIN_TOKENS=903, or a window of 5121 tokens',
  );
  expect(problemsOf({ 'context-length': '5000', 'min-output-tokens': '3975' })).toEqual([]);
  expect(problemsOf({ 'context-length': '5000', 'fallback-margin-tokens': '903' })).toEqual([]);
  expect(problemsOf({ 'context-length': '1' })[0]?.example).toBe('a window of 5121 tokens');
});

it('is reported beside other problems, and not worked out from a budget that is refused itself', () => {
  expect(problemsOf({ 'context-length': '5120', port: '-1' })).toHaveLength(2);
  expect(problemsOf({ 'context-length': '5120', 'min-output-tokens': 'x' })).toHaveLength(1);
  expect(problemsOf({ 'context-length': '5120' }, 'budget: { min_output_token: 1 }')).toHaveLength(1);
});
