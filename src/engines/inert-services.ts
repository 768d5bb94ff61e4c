import type { Message } from '../conversation/message.js';
import { estimateTokens } from '../estimate/estimate.js';
import { CompletionError, type EngineServices } from './services.js';

/** The services of an instance that serves no conversation: it is built to hear what it says of its settings. */
export function inertServices(): EngineServices {
  const values = new Map<string, unknown>();
  return {
    complete: () => Promise.reject(new CompletionError('unavailable')),
    countTokens: async (messages) => roughTokens(messages),
    estimateTokens: roughTokens,
    store: {
      get: async (key) => values.get(key),
      async set(key, value) {
        values.set(key, value);
      },
    },
    log() {},
    remainingMs: () => Number.POSITIVE_INFINITY,
  };
}

/** The rough counter over a text, a message or a list. */
export function roughTokens(value: string | Message | readonly Message[]): number {
  if (typeof value === 'string') return estimateTokens(value);
  return estimateTokens({ messages: Array.isArray(value) ? value : [value] });
}
