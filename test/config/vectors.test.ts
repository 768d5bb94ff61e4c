import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problemsFrom, settingsFrom } from './load-from.js';

interface Case {
  readonly name: string;
  readonly input: { readonly fn: string; readonly env: Record<string, string> };
  readonly expected: { readonly ok: boolean; readonly mentions?: string[] } & Record<string, unknown>;
}

const read = (file: string): { cases: Case[] } =>
  JSON.parse(readFileSync(new URL(`../vectors/${file}`, import.meta.url), 'utf8'));
const { cases } = read('settings.json');

// The original's default is its own name; ours is the proxy's.
const ORIGINAL_USER_AGENT = 'incontext/0.0.5';
const WHITE_SPACE_INSIDE = ["url 'http://h /t'", "url 'http://h/t t'", "url 'http://h\\n.example/t'"];
const ACCEPTED_HERE = ['url unset', 'two spellings of an unrelated variable'];
const DIFFERENT_HERE = [...WHITE_SPACE_INSIDE, ...ACCEPTED_HERE];

const named = (names: string[]) => cases.filter(({ name }) => names.includes(name));
const same = cases.filter(({ name }) => !DIFFERENT_HERE.includes(name));

describe('the settings vectors', () => {
  it('are all here, and every deliberate difference is one of them', () => {
    expect(cases).toHaveLength(108);
    expect(named(DIFFERENT_HERE)).toHaveLength(DIFFERENT_HERE.length);
  });

  it.each(same.filter(({ expected }) => expected.ok))('accept $name', ({ input, expected }) => {
    const { tokenizer, budget } = settingsFrom({ env: input.env });
    const found: Record<string, unknown> = {
      ok: true,
      backend: tokenizer.backend,
      fallback_margin_tokens: budget.fallbackMarginTokens,
      min_output_tokens: budget.minOutputTokens,
      compression_window_tokens: budget.compressionWindowTokens ?? 0,
      tokenizer_url: tokenizer.url,
      tokenizer_user_agent: tokenizer.userAgent ?? ORIGINAL_USER_AGENT,
      tokenizer_timeout_seconds: tokenizer.timeoutSeconds,
    };
    expect(found).toMatchObject(expected);
  });

  it.each(same.filter(({ expected }) => !expected.ok))('refuse $name', ({ input, expected }) => {
    const problems = problemsFrom({ env: input.env });
    expect(problems).toHaveLength(1);
    const message = `${problems[0]?.setting} ${problems[0]?.rule}`.toLowerCase();
    for (const mention of expected.mentions ?? []) expect(message).toContain(mention.toLowerCase());
  });

  it.each(named(WHITE_SPACE_INSIDE))('refuse white space inside: $name', ({ input }) => {
    expect(problemsFrom({ env: input.env })[0]?.rule).toContain('white space');
  });

  it('take the upstream as the tokenizer where its URL is not set', () => {
    expect(settingsFrom({ env: {} }).tokenizer.url).toBeUndefined();
  });

  it.each(named(['two spellings of an unrelated variable']))('do not mind $name', ({ input }) => {
    expect(problemsFrom({ env: input.env })).toEqual([]);
  });
});

describe('the vectors of model thresholds', () => {
  const tables = (read('model_thresholds.json').cases as unknown as { name: string; input: Table }[]).filter(
    ({ input }) => input.fn === 'normalize',
  );
  interface Table {
    readonly fn: string;
    readonly value: unknown;
  }
  const load = (value: unknown) =>
    problemsFrom({ yaml: JSON.stringify({ compression: { model_thresholds: value } }) });

  it.each(tables.filter(({ name }) => name !== 'normalize 4'))(
    'refuse the odd table of $name',
    ({ input }) => {
      expect(load(input.value)).toMatchObject([
        { setting: 'compression.model_thresholds in incontext.yaml' },
      ]);
    },
  );

  it('accept an empty table', () => {
    expect(load({})).toEqual([]);
  });
});
