import type { Message } from '../../../src/conversation/message.js';
import type { CompressOptions, EngineContext } from '../../../src/engines/contract.js';
import type { EngineSource } from '../../../src/engines/engine-shape.js';
import { testServices } from '../../../src/testing/testing.js';
import { GoodEngine } from './good-engine.js';

/** The good engine with some members that do something else. */
function altered(members: (context: EngineContext, engine: GoodEngine) => object): EngineSource {
  return (context) => {
    const engine = new GoodEngine(context);
    return Object.assign(engine, members(context, engine));
  };
}

/** The good engine, its result changed. */
function resulting(change: (result: Message[], input: readonly Message[]) => unknown): EngineSource {
  return altered((context) => ({
    compress: async (messages: Message[], options: CompressOptions) =>
      change(await new GoodEngine(context).compress(structuredClone(messages), options), messages),
  }));
}

const said: Message[] = [];
const shared = new GoodEngine({ ...contextOf(), services: testServices() });

function contextOf(): EngineContext {
  return {
    options: undefined,
    compression: { threshold: 0.75, protectFirstN: 3, protectLastN: 20 },
    services: testServices(),
  };
}

const never = () => new Promise<never>(() => {});
/** The check that fails, a part of what it says, and an engine that keeps every other promise. */
export const BROKEN: readonly (readonly [check: string, advice: string, EngineSource])[] = [
  [
    'has a name, the same in every instance',
    'must be the same',
    (context) => Object.assign(new GoodEngine(context), { name: `name${Math.random()}` }),
  ],
  ['keeps its counters as numbers', 'threshold must be numbers', altered(() => ({ threshold: '0.75' }))],
  ['takes over the usage of an answer', 'from the usage', altered(() => ({ updateFromResponse() {} }))],
  [
    'tells its status',
    'usage_percent',
    altered(() => ({
      getStatus: () => ({
        last_prompt_tokens: 1,
        threshold_tokens: 1,
        context_length: 1,
        compression_count: 0,
      }),
    })),
  ],
  [
    'follows a change of model',
    'thresholdTokens',
    altered((_, engine) => ({
      updateModel(_model: string, contextLength: number) {
        engine.contextLength = contextLength;
      },
    })),
  ],
  ['forgets its counters at a reset', 'super.onSessionReset', altered(() => ({ onSessionReset() {} }))],
  ['keeps conversations apart', 'one instance twice', () => shared],
  [
    'keeps conversations apart',
    'words of one',
    resulting((result, input) => {
      said.push(input.at(-2) as Message);
      const leak = { content: JSON.stringify(said.slice(-2)) };
      return result.map((each) => (each.message_uid === 'f'.repeat(32) ? { ...each, ...leak } : each));
    }),
  ],
  [
    'clones are instances of their own',
    'a new instance',
    altered((_, engine) => ({ cloneForAgent: () => engine })),
  ],
  [
    'clones are instances of their own',
    'same name',
    altered((context) => ({
      cloneForAgent: () => Object.assign(new GoodEngine(context), { name: 'other' }),
    })),
  ],
  [
    'compress gives a list of messages with roles',
    'each with a role',
    resulting((result) => [...result, { content: 'x' }]),
  ],
  [
    'compress gives a list of messages with roles',
    'throws TypeError (bad day)',
    altered(() => ({
      compress() {
        throw new TypeError('bad day');
      },
    })),
  ],
  [
    'compress gives a valid sequence',
    'invalid sequence',
    resulting((result) => [
      ...result.slice(0, 2),
      { role: 'tool', tool_call_id: 'x', content: '' },
      ...result.slice(2),
    ]),
  ],
  [
    'compress keeps the last user message and what follows it',
    'loses or changes',
    resulting((result) => result.map((each) => (each.role === 'user' ? { ...each, content: 'x' } : each))),
  ],
  [
    'compress keeps the last user message and what follows it',
    'what follows',
    resulting((result) => [...result, { role: 'assistant', content: 'more' }]),
  ],
  [
    'compress gives uids of 32 hex digits, and marks that are JSON',
    '32 lower-case',
    resulting((result) => result.map((each) => ({ ...each, message_uid: 'no-uid' }))),
  ],
  [
    'compress gives uids of 32 hex digits, and marks that are JSON',
    'no JSON',
    resulting((result) => result.map((each) => ({ ...each, _engine_mark: new Map([['a', 1]]) }))),
  ],
  ['compress makes a long conversation smaller', 'fewer tokens', resulting((_result, input) => input)],
  [
    'compress copes with a model that gives no text',
    'where complete() fails',
    altered((context) => ({
      async compress(messages: Message[], options: CompressOptions) {
        await context.services.complete([], { maxTokens: 1, signal: options.signal }).catch(() => {
          throw new TypeError('no text');
        });
        return new GoodEngine(context).compress(messages, options);
      },
    })),
  ],
  [
    'compress ends when the pass is aborted',
    'after an abort',
    altered((context) => ({
      async compress(messages: Message[], options: CompressOptions) {
        const services = {
          ...context.services,
          complete: async () =>
            options.signal === undefined ? { text: 'x', finishReason: 'stop' } : never(),
        };
        return new GoodEngine({ ...context, services }).compress(messages, options);
      },
    })),
  ],
  [
    'isWorthPreparing says true or false at once',
    'not a promise',
    altered(() => ({ isWorthPreparing: never })),
  ],
  [
    'isWorthPreparing says true or false at once',
    'must not throw',
    altered(() => ({
      isWorthPreparing: () => {
        throw new Error('x');
      },
    })),
  ],
  [
    'isWorthPreparing says true or false at once',
    'not string',
    altered(() => ({ isWorthPreparing: () => 'no' })),
  ],
  ['catchUp ends soon, and does not throw', 'give undefined instead', altered(() => ({ catchUp: never }))],
  [
    'catchUp ends soon, and does not throw',
    'give undefined instead',
    altered(() => ({
      catchUp: () => {
        throw new Error('x');
      },
    })),
  ],
  [
    'catchUp gives nothing, or what may take its place',
    'the last user message',
    altered(() => ({ catchUp: (messages: Message[]) => messages.slice(0, 2) })),
  ],
  [
    'catchUp gives nothing, or what may take its place',
    'no list of messages',
    altered(() => ({ catchUp: () => 'all' })),
  ],
  [
    'says whether compression is due with true or false',
    'shouldCompress()',
    altered(() => ({ shouldCompress: () => 'yes' })),
  ],
  [
    'lives through the life of a conversation',
    'continued',
    altered(() => ({
      onSessionStart(_id: string, { reason }: { reason: string }) {
        if (reason === 'continued') throw new Error('x');
      },
    })),
  ],
  [
    'selectContext gives nothing, or a list of messages',
    'a list of messages',
    altered(() => ({ selectContext: () => 'all' })),
  ],
  [
    'selectContext gives nothing, or a list of messages',
    'must not throw',
    altered(() => ({
      selectContext: () => {
        throw new Error('x');
      },
    })),
  ],
  [
    'onTurnComplete observes a turn with and without usage',
    'without usage',
    altered(() => ({
      onTurnComplete: (_messages: Message[], usage: { total_tokens: number }) => usage.total_tokens,
    })),
  ],
  [
    'has tools with names, each once',
    'two tools',
    altered(() => ({ getToolSchemas: () => [{ name: 'a' }, { name: 'a' }] })),
  ],
  [
    'has tools with names, each once',
    'bare schema',
    altered(() => ({
      getToolSchemas: () => [{ function: { name: 'a' } }],
      handleToolCall: () => '{"error":""}',
    })),
  ],
  [
    'answers tool calls with JSON, unknown ones with an error',
    '{"error": "..."}',
    altered(() => ({ handleToolCall: () => '{}' })),
  ],
  [
    'answers tool calls with JSON, unknown ones with an error',
    'JSON text',
    altered(() => ({ handleToolCall: () => ({ error: 'x' }) })),
  ],
];
