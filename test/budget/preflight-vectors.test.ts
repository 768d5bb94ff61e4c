import { describe, expect, it } from 'vitest';
import { valueKind } from '../../src/body/members.js';
import { decide } from '../../src/budget/decide.js';
import { estimatedPrompt } from '../../src/budget/window.js';
import { readCases } from './vector-cases.js';

interface Input {
  readonly W: number;
  readonly R: number;
  readonly F: number;
  readonly counter: { readonly tokens?: number };
  readonly rough: number;
}

interface Expected {
  readonly pressure: number;
  readonly exact: boolean;
  readonly compress: boolean;
}

const cases = readCases<Input, Expected>('preflight.json');

describe('the golden preflight decisions', () => {
  it('are all here', () => {
    expect(cases).toHaveLength(235);
  });

  it.each(cases.map((vector) => [vector.name, vector] as const))('%s', (_, { input, expected, raw }) => {
    const { W: window, R: reserve, F, counter, rough } = input;
    if (valueKind(raw('messages'), 0) !== 'array') {
      // No list of messages: the request is ignored, so that nothing is compressed.
      expect(expected).toMatchObject({ exact: false, compress: false });
      return;
    }
    expect(counter.tokens !== undefined).toBe(expected.exact);
    const promptTokens = counter.tokens ?? estimatedPrompt(rough, F);
    const decision = decide({ window, promptTokens, reserve, caps: [] });
    expect(decision.pressure).toBe(expected.pressure);
    expect(decision.compressDue).toBe(expected.compress);
  });
});
