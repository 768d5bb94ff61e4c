import type { Message } from '../../conversation/message.js';
import {
  type CompressOptions,
  ContextEngine,
  type EngineContext,
  type EngineFactory,
  IrreducibleError,
} from '../contract.js';
import { isRecord, textOf } from './message-text.js';
import { Pass, type PassEnvironment } from './pass.js';
import { goneOf, makePlan } from './plan.js';
import { type CompressorSettings, readSettings } from './settings.js';
import { readView } from './view.js';

/** Less than this in the middle is not worth the summary that would take its place. */
const LEAST_MIDDLE_TOKENS = 150;
/** Nor less than this part of the window. */
const LEAST_MIDDLE_SHARE = 1 / 12;

/**
 * The bundled engine: what is old becomes a summary, a list of exact names and a few lines; the beginning and the end
 * stay word for word. All that it knows of a conversation is in the marks of the messages that it wrote.
 */
export class Compressor extends ContextEngine {
  override readonly name = 'compressor';
  readonly #context: EngineContext;
  readonly #settings: CompressorSettings;

  /** @throws EngineSettingsError */
  constructor(context: EngineContext) {
    super();
    this.#context = context;
    this.#settings = readSettings(context.options);
  }

  /** @throws IrreducibleError where nothing can go, CompletionError where the model cannot be reached */
  override async compress(messages: Message[], options: CompressOptions): Promise<Message[]> {
    if (!messages.every(isMessage)) throw new IrreducibleError('what is no message cannot be left out');
    return new Pass(messages, options, this.#environment()).run();
  }

  override hasContentToCompress(messages: Message[]): boolean {
    if (!messages.every(isMessage)) return false;
    // Asked before each pass, while a request waits: characters tell enough.
    const view = readView(messages);
    const sizes = view.rest.map(roughSize);
    const none = { firstMessages: 0, firstTokens: 0, lastMessages: 0, tailTokens: 0, turnTokens: 0 };
    const gone = goneOf(view, makePlan(view, sizes, none));
    const size = gone.reduce((sum, message) => sum + roughSize(message), 0);
    const least = Math.max(LEAST_MIDDLE_TOKENS, this.thresholdTokens * LEAST_MIDDLE_SHARE);
    return size >= least || sizes.some((tokens) => tokens > this.thresholdTokens / 2);
  }

  /** Lines cost no wait; only for the model's text one is saved. */
  override isWorthPreparing(messages: Message[], options: CompressOptions): boolean {
    return messages.every(isMessage) && new Pass(messages, options, this.#environment()).mayAskModel();
  }

  override async catchUp(messages: Message[], options: CompressOptions): Promise<Message[] | undefined> {
    if (!messages.every(isMessage)) return undefined;
    return await new Pass(messages, options, this.#environment()).caughtUp();
  }

  #environment(): PassEnvironment {
    const { services, compression } = this.#context;
    return {
      services,
      settings: this.#settings,
      protectFirstN: compression.protectFirstN,
      protectLastN: compression.protectLastN,
      contextLength: this.contextLength,
      thresholdTokens: this.thresholdTokens,
    };
  }
}

const CHARACTERS_PER_TOKEN = 4;

function roughSize({ content, tool_calls: calls }: Message): number {
  const called = Array.isArray(calls) ? (JSON.stringify(calls)?.length ?? 0) : 0;
  return 4 + Math.ceil((textOf(content).length + called) / CHARACTERS_PER_TOKEN);
}

function isMessage(value: unknown): value is Message {
  return isRecord(value) && typeof value.role === 'string';
}

export const createCompressor: EngineFactory = (context) => new Compressor(context);
