import type { RelayEnd } from '../stream/relay.js';
import type { Endpoint } from './endpoint.js';
import { type ObserveParts, observeEnd } from './observe-end.js';
import type { ExchangeParts } from './parts.js';
import type { Plan } from './plan.js';

/** Writes down what became of an exchange. `plan`: `undefined` where the client went before there was one. */
export function observeExchange(
  endpoint: Endpoint,
  plan: Plan | undefined,
  end: RelayEnd,
  startedAt: number,
  parts: ExchangeParts & ObserveParts,
): void {
  if (end.outcome === 'held') return;
  if (plan !== undefined) observePlan(plan, parts);
  const { facts } = plan ?? { facts: undefined };
  const fields = {
    route: endpoint.name,
    action: plan?.action,
    reason: plan?.reason,
    source: plan?.source,
    model: facts?.model === undefined ? undefined : parts.models.label(facts.model),
    prompt_tokens: facts?.promptTokens,
    window: facts?.window,
    max_tokens: facts?.maxTokens,
  };
  observeEnd(fields, end, startedAt, parts);
}

function observePlan(plan: Plan, { metrics }: ExchangeParts): void {
  const { facts } = plan;
  metrics.decided(plan.action, plan.reason);
  // Nothing went upstream.
  if (plan.reason === 'command') return;
  if (facts.originalPromptTokens !== undefined)
    metrics.promptTokens.observe({ stage: 'original' }, facts.originalPromptTokens);
  if (facts.promptTokens !== undefined) metrics.promptTokens.observe({ stage: 'sent' }, facts.promptTokens);
  if (facts.askedTokens !== undefined) metrics.capTokens.observe({ stage: 'asked' }, facts.askedTokens);
  const sentCap = facts.maxTokens ?? (plan.action === 'unchanged' ? facts.askedTokens : undefined);
  if (sentCap !== undefined) metrics.capTokens.observe({ stage: 'sent' }, sentCap);
}
