import type { Row, Told } from '../../src/demo/row.js';

/** A row of a request that was clamped, with these differences. */
export function sampleRow(more: Partial<Omit<Row, 'told'>> & { told?: Partial<Told> } = {}): Row {
  const { told, ...rest } = more;
  return {
    step: 2,
    asks: 'a million tokens',
    caps: { max_tokens: 1_000_000 },
    status: 200,
    finishReason: 'stop',
    usagePromptTokens: 258,
    directStatus: 400,
    note: undefined,
    surprises: [],
    ...rest,
    told: {
      action: 'clamped',
      reason: 'cap_lowered',
      source: 'vllm-tokenize',
      promptTokens: 258,
      originalPromptTokens: 258,
      window: 8192,
      contextLength: 8192,
      maxTokens: 7934,
      ...told,
    },
  };
}

export const BYPASSED = sampleRow({
  step: 9,
  caps: { max_tokens: 512 },
  told: {
    action: 'bypassed',
    reason: 'bypass',
    source: 'none',
    promptTokens: undefined,
    window: undefined,
    contextLength: undefined,
    maxTokens: undefined,
  },
});
