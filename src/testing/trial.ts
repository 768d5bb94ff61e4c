import type { Message } from '../conversation/message.js';
import type { ContextEngine, EngineContext } from '../engines/contract.js';
import type { EngineSource } from '../engines/engine-shape.js';
import { roughTokens } from '../engines/inert-services.js';
import { buildEngine } from '../engines/registration.js';
import type { EngineServices } from '../engines/services.js';
import { type Script, testServices } from './test-services.js';
import type { Transcript } from './transcripts.js';

/** One promise of the contract, for any test runner. */
export interface EngineCheck {
  readonly name: string;
  /** Rejects with an Error that says what to do. */
  readonly run: () => Promise<void>;
}

export interface EngineCheckOptions {
  /** The block `engines.<name>` that the engine is built with. */
  readonly options?: unknown;
}

export const MODEL = 'some-model';
export const CONTEXT_LENGTH = 8192;
export const TARGET_TOKENS = 2000;
const LONGEST_MS = 10_000;

/** What came of one call of `compress`. */
export type Outcome = { readonly input: readonly Message[] } & (
  | { readonly result: unknown }
  | { readonly error: unknown }
);

/** Builds instances of the engine under test and drives them as the host does. */
export class Trial {
  constructor(
    readonly source: EngineSource,
    readonly options: unknown,
  ) {}

  context(services: EngineServices = testServices()): EngineContext {
    const compression = { threshold: 0.75, protectFirstN: 3, protectLastN: 20 };
    return { options: this.options, compression, services };
  }

  build(services?: EngineServices): Promise<ContextEngine> {
    return buildEngine(this.source, 'the engine under test', this.context(services));
  }

  /** An instance that has a model and a conversation. Hooks that fail have checks of their own. */
  async start(services?: EngineServices): Promise<ContextEngine> {
    const engine = await this.build(services);
    const start = { model: MODEL, contextLength: CONTEXT_LENGTH, reason: 'new' } as const;
    await quietly(() => engine.updateModel(MODEL, CONTEXT_LENGTH));
    await quietly(() => engine.onSessionStart('0'.repeat(32), start));
    return engine;
  }

  /** One pass over a copy of a transcript, by an instance of its own. */
  async pass(
    { what, messages }: Transcript,
    complete: Script = 'good',
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const services = testServices({ complete, ...(signal === undefined ? {} : { signal }) });
    return this.compress(await this.start(services), messages(), what, signal);
  }

  async compress(
    engine: ContextEngine,
    input: Message[],
    what: string,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const given = structuredClone(input);
    const options = { currentTokens: roughTokens(input), targetTokens: TARGET_TOKENS, signal };
    try {
      return {
        input,
        result: await within(`compress of ${what}`, async () => engine.compress(given, options)),
      };
    } catch (error) {
      return { input, error };
    }
  }
}

/** A pass may fail in these ways: the host then clamps to the model's whole context. */
export function isHonestFailure(error: unknown): boolean {
  return error instanceof Error && ['IrreducibleError', 'CompletionError', 'AbortError'].includes(error.name);
}

/** @throws Error where the call takes longer than any engine should, without waiting for what never answers. */
export async function within<T>(what: string, call: () => Promise<T>, ms = LONGEST_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} does not end within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([call(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function quietly(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch {
    // Another check is about this.
  }
}

/** @throws Error with the advice where the promise is not kept. */
export function expect(isKept: boolean, advice: string): asserts isKept {
  if (!isKept) throw new Error(advice);
}
