import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalCap } from '../../src/budget/canonical-cap.js';
import type { CapField } from '../../src/budget/cap-field.js';
import { type BudgetInput, type CallerCap, type Decision, decide } from '../../src/budget/decide.js';

const cap = (field: CapField, text: string): CallerCap => ({ field, text, tokens: canonicalCap(text) });

function decideFor(caps: readonly CallerCap[], input: Partial<BudgetInput> = {}): Decision {
  return decide({ window: 4096, promptTokens: 3000, reserve: 256, caps, ...input });
}

describe('the cap that goes out', () => {
  // vllm-project/vllm#42474, MoonshotAI/kimi-cli#32 (bug case 1)
  it('is what is left where the caller asks for more', () => {
    expect(decideFor([cap('max_tokens', '2048')])).toMatchObject({
      cap: { kind: 'set', field: 'max_tokens', value: 1096, drop: [] },
      reason: 'cap_lowered',
    });
    expect(decideFor([cap('max_tokens', '1096')])).toMatchObject({ cap: { kind: 'keep' }, reason: 'fits' });
    expect(decideFor([cap('max_tokens', '1097')]).cap).toMatchObject({ value: 1096 });
  });

  // 0xku/kon#91, Kilo-Org/kilocode#9404 (bug case 2)
  it('changes by one, and only where the sum is one above the window', () => {
    const numbers = fc.tuple(
      fc.integer({ min: 300, max: 1_000_000 }),
      fc.integer({ min: 2, max: 1_000_000 }),
    );
    fc.assert(
      fc.property(numbers, ([left, promptTokens]) => {
        const window = promptTokens + left;
        for (const value of [left - 1, left, left + 1]) {
          const decision = decideFor([cap('max_tokens', String(value))], { window, promptTokens });
          const expected = value > left ? { kind: 'set', value: value - 1 } : { kind: 'keep' };
          expect(decision.cap).toMatchObject(expected);
        }
      }),
    );
  });

  // docker/docker-agent#3387 (bug case 3)
  it('leaves room for a short prompt where the caller asks for the whole window', () => {
    expect(decideFor([cap('max_tokens', '4096')], { promptTokens: 12 }).cap).toMatchObject({ value: 4084 });
  });

  // NousResearch/hermes-agent#102494 (bug case 4)
  it('fits where the caller asks for more than the window', () => {
    const decision = decideFor([cap('max_completion_tokens', '131072')], { promptTokens: 50 });
    expect(decision.cap).toEqual({ kind: 'set', field: 'max_completion_tokens', value: 4046, drop: [] });
  });

  // hivecommons/hive#1629, docker/docker-agent#3393 (bug case 13)
  it('is no fixed share of the window', () => {
    expect(decideFor([cap('max_tokens', '3072')], { promptTokens: 3500 }).cap).toMatchObject({ value: 596 });
  });

  // NVIDIA-NeMo/RL#2514, decocms/studio#5397 (bug cases 6 and 7)
  it('is never a stub: below the reserve nothing is changed', () => {
    for (const promptTokens of [3841, 4090, 4095, 4096, 5000]) {
      expect(decideFor([cap('max_tokens', '2000')], { promptTokens })).toMatchObject({
        cap: { kind: 'unviable' },
        reason: 'requires_compression',
        compressDue: true,
      });
    }
    expect(decideFor([cap('max_tokens', '2000')], { promptTokens: 3840 }).cap).toMatchObject({ value: 256 });
  });

  it('stays as small as the caller asked for on purpose', () => {
    const caps = [cap('max_tokens', '5')];
    expect(decideFor(caps, { promptTokens: 4090 })).toMatchObject({ cap: { kind: 'keep' }, required: 5 });
  });

  // huggingface/text-generation-inference#2925 (bug case 8)
  it('is the smallest of several, under its own name; the others go', () => {
    const caps = [
      cap('max_tokens', '3000'),
      cap('max_completion_tokens', '100'),
      cap('max_output_tokens', '100'),
    ];
    expect(decideFor(caps)).toMatchObject({
      cap: {
        kind: 'set',
        field: 'max_completion_tokens',
        value: 100,
        drop: ['max_tokens', 'max_output_tokens'],
      },
      reason: 'cap_merged',
    });
  });

  it('drops the others even where the smallest already fits', () => {
    for (const other of ['900', 'null']) {
      expect(decideFor([cap('max_tokens', '100'), cap('max_output_tokens', other)])).toMatchObject({
        cap: { kind: 'set', field: 'max_tokens', value: 100, drop: ['max_output_tokens'] },
        reason: 'cap_merged',
      });
    }
  });

  it('takes the place of a member that states no cap', () => {
    const caps = [cap('max_tokens', '3000'), cap('max_completion_tokens', 'null')];
    expect(decideFor(caps)).toMatchObject({
      cap: { field: 'max_tokens', value: 1096, drop: ['max_completion_tokens'] },
      reason: 'cap_lowered',
    });
    expect(decideFor([cap('max_output_tokens', '0')])).toMatchObject({
      cap: { field: 'max_tokens', value: 1096, drop: ['max_output_tokens'] },
      reason: 'cap_inserted',
    });
  });

  it('is inserted as max_tokens where there is none', () => {
    expect(decideFor([])).toMatchObject({
      cap: { kind: 'set', field: 'max_tokens', value: 1096, drop: [] },
      reason: 'cap_inserted',
    });
  });

  it('is written anew where the backend reads another spelling or another name', () => {
    const spelled: CallerCap = { field: 'max_tokens', text: '"100"', tokens: 100 };
    expect(decideFor([spelled])).toMatchObject({ cap: { value: 100, drop: [] }, reason: 'cap_respelled' });
    const renamed = decideFor([cap('max_output_tokens', '100')], { outputField: () => 'max_tokens' });
    expect(renamed).toMatchObject({
      cap: { field: 'max_tokens', value: 100, drop: ['max_output_tokens'] },
      reason: 'cap_respelled',
    });
  });

  it('never exceeds the operator’s, which keeps the caller’s field', () => {
    const operatorCap = 300;
    const lowered = decideFor([cap('max_completion_tokens', '900')], { operatorCap });
    expect(lowered).toMatchObject({
      cap: { field: 'max_completion_tokens', value: 300 },
      reason: 'cap_lowered',
    });
    expect(decideFor([], { operatorCap }).cap).toMatchObject({ field: 'max_tokens', value: 300 });
    expect(decideFor([cap('max_tokens', '200')], { operatorCap }).cap).toEqual({ kind: 'keep' });
    expect(decideFor([], { operatorCap: 100 })).toMatchObject({ required: 100, cap: { value: 100 } });
  });
});

describe('what is required', () => {
  it('is at least min_tokens', () => {
    expect(decideFor([], { minTokens: 1096 })).toMatchObject({ required: 1096, cap: { value: 1096 } });
    expect(decideFor([], { minTokens: 1097 })).toMatchObject({
      compressDue: true,
      cap: { kind: 'unviable' },
    });
    expect(decideFor([], { minTokens: 10 }).required).toBe(256);
  });

  it('leaves a min_tokens above the cap to the upstream’s judgement', () => {
    const decision = decideFor([cap('max_tokens', '100')], { minTokens: 200 });
    expect(decision).toMatchObject({ cap: { kind: 'keep' }, reason: 'fits', required: 200 });
  });
});

describe('the backend’s own limit', () => {
  it('lowers the cap', () => {
    expect(decideFor([], { limit: 256 }).cap).toMatchObject({ value: 256 });
  });

  it('alone asks for no compression where it is short', () => {
    expect(decideFor([], { limit: 255 })).toMatchObject({
      compressDue: false,
      cap: { kind: 'unviable' },
      reason: 'backend_limit',
    });
    expect(decideFor([], { limit: -10, promptTokens: 4000 })).toMatchObject({
      compressDue: true,
      reason: 'requires_compression',
    });
  });

  it('is asked about its field only where a cap is viable', () => {
    const outputField = () => {
      throw new Error('asked');
    };
    expect(decideFor([], { promptTokens: 4000, outputField }).reason).toBe('requires_compression');
    expect(() => decideFor([], { outputField })).toThrow('asked');
  });
});

describe('canonicalCap', () => {
  it.each([
    ['1', 1],
    ['4096', 4096],
    ['100000000000000000000', Number.MAX_SAFE_INTEGER],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('reads %s', (text, tokens) => {
    expect(canonicalCap(text)).toBe(tokens);
  });

  // vllm-project/vllm#5700, MindWorkAI/AI-Studio#524 (bug case 5)
  it.each(['0', '-1', '1.0', '1e3', '"5"', 'true', 'null', '', ' 1', '1 ', '٣', '[1]'])(
    'reads no cap from %j',
    (text) => {
      expect(canonicalCap(text)).toBeUndefined();
    },
  );
});
