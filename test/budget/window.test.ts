import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/budget/decide.js';
import { effectiveReserve, estimatedPrompt, startRefusal, windowOf } from '../../src/budget/window.js';

const settings = { contextLength: 65_536, threshold: 0.75, engineUsesWholeContext: false };

describe('windowOf', () => {
  it('is the threshold’s share of the context length, rounded down', () => {
    expect(windowOf(settings)).toBe(49_152);
    expect(windowOf({ ...settings, contextLength: 4097 })).toBe(3072);
  });

  it('is the whole context length for an engine that never compresses', () => {
    expect(windowOf({ ...settings, engineUsesWholeContext: true })).toBe(65_536);
  });

  it('is what is stated outright, but never above the context length', () => {
    expect(windowOf({ ...settings, compressionWindowTokens: 60_000 })).toBe(60_000);
    expect(windowOf({ ...settings, compressionWindowTokens: 70_000 })).toBe(65_536);
    expect(windowOf({ ...settings, engineUsesWholeContext: true, compressionWindowTokens: 9 })).toBe(9);
  });
});

describe('effectiveReserve', () => {
  it('is lowered by a smaller operator-wide cap only', () => {
    expect(effectiveReserve(4096, undefined)).toBe(4096);
    expect(effectiveReserve(4096, 1000)).toBe(1000);
    expect(effectiveReserve(4096, 8000)).toBe(4096);
  });
});

describe('estimatedPrompt', () => {
  it('counts at least one token before the margin', () => {
    expect(estimatedPrompt(0, 1024)).toBe(1025);
    expect(estimatedPrompt(-5, 0)).toBe(1);
    expect(estimatedPrompt(1.9, 10)).toBe(11);
  });
});

describe('startRefusal', () => {
  it('refuses F + R = W and takes F + R = W - 1', () => {
    expect(startRefusal({ window: 5121, reserve: 4096, margin: 1024 })).toBeUndefined();
    expect(startRefusal({ window: 5120, reserve: 4096, margin: 1024 })).toBeDefined();
  });

  it('names values that would fit', () => {
    const refusal = startRefusal({ window: 5000, reserve: 4096, margin: 1024 });
    expect(refusal).toEqual({
      message:
        'fallback margin 1024 + output reserve 4096 = 5120 must be below the window of 5000 tokens; would fit: ' +
        'a reserve of at most 3975, or a fallback margin of at most 903, or a window of at least 5121',
      largestReserve: 3975,
      largestMargin: 903,
      smallestWindow: 5121,
    });
  });

  it('names no reserve or margin where none would fit beside the other', () => {
    const refusal = startRefusal({ window: 1000, reserve: 4096, margin: 1024 });
    expect(refusal).toMatchObject({
      largestReserve: undefined,
      largestMargin: undefined,
      smallestWindow: 5121,
    });
    expect(refusal?.message).toMatch(/would fit: a window of at least 5121$/);
  });

  it('refuses exactly the settings under which no estimate could leave the reserve', () => {
    const tokens = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(tokens, tokens, fc.nat({ max: 10_000 }), (window, reserve, margin) => {
        const smallest = decide({ window, reserve, promptTokens: estimatedPrompt(0, margin), caps: [] });
        const refusal = startRefusal({ window, reserve, margin });
        expect(refusal !== undefined).toBe(smallest.compressDue);
        const { largestReserve, largestMargin, smallestWindow } = refusal ?? {};
        for (const fitting of [
          largestReserve && { window, reserve: largestReserve, margin },
          largestMargin !== undefined && { window, reserve, margin: largestMargin },
          smallestWindow && { window: smallestWindow, reserve, margin },
        ]) {
          if (fitting) expect(startRefusal(fitting)).toBeUndefined();
        }
      }),
    );
  });
});
