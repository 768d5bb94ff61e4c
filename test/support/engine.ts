import type { Message } from '../../src/conversation/message.js';
import { type CompressOptions, ContextEngine, type EngineContext } from '../../src/engines/contract.js';
import type { EngineServices } from '../../src/engines/services.js';
import type { EngineChoice } from '../../src/server/choose-engine.js';

export type Script = (
  messages: Message[],
  options: CompressOptions,
  engine: ScriptedEngine,
) => Message[] | Promise<Message[]>;

/** One call of `compress`. */
export interface PassCall {
  readonly messages: Message[];
  readonly options: CompressOptions;
  readonly engine: ScriptedEngine;
}

/** An engine that does what its test says. Without hooks of its own, as the compressor. */
export class ScriptedEngine extends ContextEngine {
  override readonly name = 'scripted';
  /** The models of `updateModel`, in their order. */
  readonly models: string[] = [];

  constructor(
    readonly services: EngineServices,
    private readonly test: TestEngine,
  ) {
    super();
  }

  override compress(messages: Message[], options: CompressOptions): Message[] | Promise<Message[]> {
    this.test.passes.push({ messages: structuredClone(messages), options, engine: this });
    return this.test.script(messages, options, this);
  }

  override updateModel(model: string, contextLength: number): void {
    this.models.push(model);
    super.updateModel(model, contextLength);
  }
}

export interface TestEngine {
  /** For `startProxy`. */
  readonly choice: EngineChoice;
  readonly passes: PassCall[];
  /** Those that were made for conversations, in their order. */
  readonly instances: ScriptedEngine[];
  /** What the next pass does. */
  script: Script;
}

export type EngineClass = new (...args: ConstructorParameters<typeof ScriptedEngine>) => ScriptedEngine;

/** @param of a class with hooks of its own. */
export function scriptedEngine(script: Script = summarise, of: EngineClass = ScriptedEngine): TestEngine {
  const passes: PassCall[] = [];
  const instances: ScriptedEngine[] = [];
  const inert = { log() {} } as unknown as EngineServices;
  const test: { -readonly [K in keyof TestEngine]: TestEngine[K] } = {
    choice: { kind: 'none', warnings: [] },
    passes,
    instances,
    script,
  };
  const create = async ({ services }: EngineContext) => {
    const made = new of(services, test);
    instances.push(made);
    return made;
  };
  const prototype = new of(inert, test);
  test.choice = { kind: 'engine', name: 'scripted', origin: 'a test', prototype, create, warnings: [] };
  return test;
}

/** All but the head and the last turn becomes one message; the one of the pass before goes into it. */
export const summarise: Script = (messages) => {
  const start = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const summary = { role: 'user', content: `summary of ${last - start} messages` };
  return [...messages.slice(0, start), summary, ...messages.slice(last)];
};
