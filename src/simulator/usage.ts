import type { VllmVersion } from './version.js';

export interface TokenCounts {
  readonly prompt: number;
  readonly completion: number;
  /** Prompt tokens that a prefix cache would have had; reported when there are any. */
  readonly cached: number;
  /** Null without a reasoning parser. */
  readonly reasoning: number | null;
}

/** `usage` of an answer in one piece. */
export function wholeUsage(counts: TokenCounts, vllm: VllmVersion): object {
  return {
    ...sums(counts),
    prompt_tokens_details: counts.cached > 0 ? { cached_tokens: counts.cached } : null,
    ...(vllm === '0.16' ? {} : { completion_tokens_details: reasoningDetails(counts) }),
  };
}

/** `usage` of a chunk, with `continuous_usage_stats`. */
export function runningUsage(counts: TokenCounts, vllm: VllmVersion): object {
  return {
    ...sums(counts),
    ...(vllm === '0.16' ? {} : { completion_tokens_details: reasoningDetails(counts) }),
  };
}

/** `usage` of the last chunk of a stream: only what is known. */
export function finalUsage(counts: TokenCounts, vllm: VllmVersion): object {
  const details = reasoningDetails(counts);
  return {
    ...sums(counts),
    ...(counts.cached > 0 ? { prompt_tokens_details: { cached_tokens: counts.cached } } : {}),
    ...(vllm === '0.16' || details === null ? {} : { completion_tokens_details: details }),
  };
}

function sums(counts: TokenCounts): object {
  return {
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    completion_tokens: counts.completion,
  };
}

function reasoningDetails(counts: TokenCounts): object | null {
  return counts.reasoning === null ? null : { reasoning_tokens: counts.reasoning };
}
