import type { Message } from '../../../../src/conversation/message.js';
import { Compressor } from '../../../../src/engines/compressor/compressor.js';
import type { EngineContext } from '../../../../src/engines/contract.js';
import { completeOptions, type EngineServices } from '../../../../src/engines/services.js';
import { estimateTokens } from '../../../../src/estimate/estimate.js';
import { lastText, repeating, type Summariser } from './summarisers.js';

export interface Built {
  readonly engine: Compressor;
  readonly calls: { prompt: string; tokens: number; maxTokens: number; answer: string }[];
  readonly counts: () => number;
}

export interface BuildOptions {
  readonly summariser?: Summariser;
  readonly contextLength?: number;
  readonly options?: unknown;
  readonly protectFirstN?: number;
  readonly protectLastN?: number;
  readonly remainingMs?: () => number;
  /** Tokens of tools and template beside the messages. */
  readonly overhead?: number;
  /** What the exact count of messages is of the rough one. */
  readonly ofRough?: number;
}

export function roughly(value: string | Message | readonly Message[]): number {
  if (typeof value === 'string') return estimateTokens(value);
  return estimateTokens({ messages: Array.isArray(value) ? value : [value] });
}

export function build(given: BuildOptions = {}): Built {
  const { summariser = repeating, contextLength = 8192, overhead = 0, ofRough = 1 } = given;
  const calls: Built['calls'] = [];
  let counted = 0;
  const services: EngineServices = {
    async complete(messages, given) {
      const options = completeOptions(given);
      const prompt = lastText(messages);
      const call = { prompt, tokens: roughly(messages), maxTokens: options.maxTokens, answer: '' };
      calls.push(call);
      const answer = await summariser(prompt, options);
      call.answer = answer.text;
      return answer;
    },
    async countTokens(messages) {
      counted += 1;
      return Math.round(roughly(messages) * ofRough) + overhead;
    },
    estimateTokens: roughly,
    store: { get: async () => undefined, set: async () => {} },
    log() {},
    remainingMs: given.remainingMs ?? (() => Number.POSITIVE_INFINITY),
  };
  const context: EngineContext = {
    options: given.options,
    compression: {
      threshold: 0.75,
      protectFirstN: given.protectFirstN ?? 3,
      protectLastN: given.protectLastN ?? 20,
    },
    services,
  };
  const engine = new Compressor(context);
  engine.updateModel('m', contextLength);
  return { engine, calls, counts: () => counted };
}
