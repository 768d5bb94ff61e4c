import type { Message } from '../conversation/message.js';
import { roughTokens } from '../engines/inert-services.js';
import {
  type CompleteOptions,
  type Completion,
  CompletionError,
  completeOptions,
  type EngineServices,
} from '../engines/services.js';

/**
 * How the model behind `complete` behaves. `good`: a short text; `empty`: no text, which the host reports as failed;
 * `throwing`: it cannot be reached; `hanging`: no answer until the request or the pass is aborted.
 */
export type Script = 'good' | 'empty' | 'throwing' | 'hanging';

export interface TestServicesOptions {
  /** Default: `good`. */
  readonly complete?:
    | Script
    | ((messages: readonly Message[], options: CompleteOptions) => Promise<Completion>);
  /** Ends what `complete` waits for, as the end of an exchange does. */
  readonly signal?: AbortSignal;
  /** Default: `Infinity`. */
  readonly remainingMs?: number;
}

export interface TestServices extends EngineServices {
  /** What `complete` was asked, in order. */
  readonly asked: readonly { readonly messages: readonly Message[]; readonly options: CompleteOptions }[];
  readonly stored: ReadonlyMap<string, unknown>;
  /** The codes that were logged. */
  readonly logged: readonly string[];
}

export const GOOD_TEXT = 'In short: they spoke about the matter and agreed.';

/** Services without a network: a scripted model, the rough counter in place of the exact one, a store in memory. */
export function testServices(options: TestServicesOptions = {}): TestServices {
  const { complete = 'good', signal, remainingMs = Number.POSITIVE_INFINITY } = options;
  const asked: { messages: readonly Message[]; options: CompleteOptions }[] = [];
  const stored = new Map<string, unknown>();
  const logged: string[] = [];
  const answer = typeof complete === 'function' ? complete : scripted(complete, signal);
  return {
    asked,
    stored,
    logged,
    complete(messages, given) {
      const how = completeOptions(given);
      asked.push({ messages: structuredClone(messages), options: how });
      return answer(messages, how);
    },
    countTokens: async (messages) => roughTokens(messages),
    estimateTokens: roughTokens,
    store: {
      get: async (key) => structuredClone(stored.get(key)),
      async set(key, value) {
        stored.set(key, structuredClone(value));
      },
    },
    log: (_level, code) => void logged.push(code),
    remainingMs: () => remainingMs,
  };
}

function scripted(script: Script, pass: AbortSignal | undefined) {
  return async (_messages: readonly Message[], { signal }: CompleteOptions): Promise<Completion> => {
    if (script === 'good') return { text: GOOD_TEXT, finishReason: 'stop' };
    if (script === 'hanging') await abortOf([signal, pass]);
    throw new CompletionError(script === 'empty' ? 'failed' : 'unavailable');
  };
}

function abortOf(signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const given = signals.filter((signal) => signal !== undefined);
  return new Promise((resolve) => {
    const any = AbortSignal.any(given);
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });
}
