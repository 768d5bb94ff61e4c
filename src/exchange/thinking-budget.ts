import type { RawObject } from '../body/raw-object.js';

/**
 * The fewest tokens that the `max_tokens` of a Messages request may be: one more than `thinking.budget_tokens`, where
 * thinking is enabled (vLLM 0.32 and Anthropic refuse less).
 */
export function leastWithThinking(request: RawObject): number | undefined {
  const text = request.text('thinking');
  if (text === undefined) return undefined;
  const thinking: unknown = JSON.parse(text);
  if (typeof thinking !== 'object' || thinking === null) return undefined;
  const budget: unknown = Reflect.get(thinking, 'budget_tokens');
  const isEnabled = Reflect.get(thinking, 'type') === 'enabled';
  return isEnabled && Number.isSafeInteger(budget) ? Number(budget) + 1 : undefined;
}
