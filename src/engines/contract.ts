import { resolveModelThreshold } from '../budget/model-threshold.js';
import type { Message, Usage } from '../conversation/message.js';
import type { EngineServices } from './services.js';

export interface CompressOptions {
  /** P of the request as it stands, in tokens: system prompt, tools and template included. */
  readonly currentTokens?: number | undefined;
  /** P that the request should not exceed after the pass (the low-water mark). */
  readonly targetTokens?: number | undefined;
  /** From `/compress <focus>`: what to prefer where something has to go. */
  readonly focusTopic?: string | undefined;
  /** Asked for by a person: compress even where it seems not worth it. */
  readonly force?: boolean | undefined;
  /** Aborts with the exchange and at the deadline. */
  readonly signal?: AbortSignal | undefined;
}

export interface SessionStart {
  readonly model: string;
  /** Tokens. */
  readonly contextLength: number;
  /** `restored`: known from the store; `continued`: the client dropped the head of a known conversation. */
  readonly reason: 'new' | 'restored' | 'continued';
}

export interface SelectContext {
  /** The whole view, selection or not. Read only. */
  readonly conversationMessages: readonly Message[];
  /** The last user message. */
  readonly incomingMessage: Message | undefined;
  /** W in tokens. */
  readonly budgetTokens: number;
}

/** A tool of an engine, bare: the host wraps it as a function. */
export interface ToolSchema {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface EngineStatus {
  readonly last_prompt_tokens: number;
  readonly threshold_tokens: number;
  readonly context_length: number;
  readonly usage_percent: number;
  readonly compression_count: number;
  readonly [member: string]: unknown;
}

/** What an instance is built from. */
export interface EngineContext {
  /** The block `engines.<name>` of the configuration file, as it stands there. */
  readonly options: unknown;
  /** The settings of `compression`: an engine may honor or ignore them. */
  readonly compression: {
    /** The share of the context length at which compression is due. */
    readonly threshold: number;
    readonly protectFirstN: number;
    readonly protectLastN: number;
  };
  readonly services: EngineServices;
}

/** Builds an instance; throws `EngineSettingsError` naming every setting of its block that is wrong. */
export type EngineFactory = (context: EngineContext) => ContextEngine | Promise<ContextEngine>;

/**
 * A context engine (seed 000). One instance serves one conversation. Hooks may be asynchronous; every message list
 * that an engine receives is its own deep copy. A hook that is not overridden costs nothing.
 */
export abstract class ContextEngine {
  /** Must equal `context.engine` in the configuration. */
  abstract readonly name: string;

  /** What the last answer reported. */
  lastPromptTokens = 0;
  lastCompletionTokens = 0;
  lastTotalTokens = 0;
  /** W: compression is due when the pressure reaches it. */
  thresholdTokens = 0;
  contextLength = 0;
  /** How many passes of this engine the host has committed in this conversation; the host counts. */
  compressionCount = 0;
  /** The configured threshold, for `updateModel`. */
  threshold = 0.75;
  /** `compression.model_thresholds`; the host assigns it before the first `updateModel`. */
  modelThresholds: ReadonlyMap<string, number> = new Map();
  /** When the engine's tools may join a request: at once, or from the first checkpoint on. */
  toolInjection: 'always' | 'after-checkpoint' = 'always';

  /** Shortens the conversation; the result must be a valid message sequence. */
  abstract compress(messages: Message[], options: CompressOptions): Message[] | Promise<Message[]>;

  /** Called after each answer of the upstream. */
  updateFromResponse(usage: Usage): void | Promise<void> {
    this.lastPromptTokens = usage.prompt_tokens;
    this.lastCompletionTokens = usage.completion_tokens;
    this.lastTotalTokens = usage.total_tokens;
  }

  /** True where compression is due at that pressure, `P + required - 1` tokens. */
  shouldCompress(pressure: number = this.lastPromptTokens): boolean | Promise<boolean> {
    return pressure >= this.thresholdTokens;
  }

  /** False where a pass would find nothing to do: the host does not start one. */
  hasContentToCompress(_messages: Message[]): boolean {
    return true;
  }

  /**
   * Asked before a pass is made early. False where one that is due would take hardly any time: made then, it takes in
   * more.
   */
  isWorthPreparing(_messages: Message[], _options: CompressOptions): boolean {
    return true;
  }

  /**
   * A pass that was made early is due. Shortens what came since as well, without asking the model: somebody waits.
   * `undefined`: what was made early goes out as it is.
   */
  catchUp(
    _messages: Message[],
    _options: CompressOptions,
  ): Message[] | undefined | Promise<Message[] | undefined> {
    return undefined;
  }

  /** Asked before counting; true forces a pass. */
  shouldCompressPreflight(_messages: Message[]): boolean | Promise<boolean> {
    return false;
  }

  onSessionStart(_sessionId: string, _start: SessionStart): void | Promise<void> {}

  onSessionEnd(_sessionId: string, _messages: Message[]): void | Promise<void> {}

  onSessionReset(): void | Promise<void> {
    this.lastPromptTokens = 0;
    this.lastCompletionTokens = 0;
    this.lastTotalTokens = 0;
    this.compressionCount = 0;
  }

  /** Called before the first request, and when model or context length change. */
  updateModel(model: string, contextLength: number): void {
    this.contextLength = contextLength;
    this.thresholdTokens = Math.floor(
      contextLength * resolveModelThreshold(model, this.modelThresholds, this.threshold),
    );
  }

  getToolSchemas(): readonly ToolSchema[] {
    return [];
  }

  /** @returns JSON text; an unknown name gives an object with `error`. */
  handleToolCall(name: string, _args: Readonly<Record<string, unknown>>): string | Promise<string> {
    return JSON.stringify({ error: `Unknown tool: ${name}` });
  }

  getStatus(): EngineStatus {
    const { contextLength } = this;
    const prompt = Math.max(0, this.lastPromptTokens);
    return {
      last_prompt_tokens: prompt,
      threshold_tokens: this.thresholdTokens,
      context_length: contextLength,
      usage_percent: contextLength > 0 ? Math.min(100, (prompt / contextLength) * 100) : 0,
      compression_count: this.compressionCount,
    };
  }

  /**
   * Chooses the messages of this one request; the conversation stays as it is. `undefined`, `null`, an empty list,
   * anything invalid, or a throw: the request goes as it is.
   */
  selectContext(
    _requestMessages: Message[],
    _context: SelectContext,
  ): Message[] | null | undefined | Promise<Message[] | null | undefined> {
    return undefined;
  }

  /** Observes a finished turn: the transcript with the assistant's final message, and the usage if there was one. */
  onTurnComplete(_messages: Message[], _usage?: Usage): void | Promise<void> {}

  /**
   * An instance for one more conversation. Default: the registered factory is called again; of an instance that was
   * registered without one, a structured copy that shares what cannot be copied.
   */
  cloneForAgent?(context: EngineContext): ContextEngine | Promise<ContextEngine>;
}

/** The hooks that cost nothing where an engine leaves them as they are. */
export type Hook =
  | 'selectContext'
  | 'onTurnComplete'
  | 'shouldCompressPreflight'
  | 'shouldCompress'
  | 'catchUp'
  | 'updateFromResponse'
  | 'onSessionEnd';

/** True where an engine brings its own. */
export function overrides(engine: ContextEngine, hook: Hook): boolean {
  return engine[hook] !== ContextEngine.prototype[hook];
}

/** A pass cannot make the conversation smaller: it is at its floor. The host clamps to the real window instead. */
export class IrreducibleError extends Error {
  override readonly name = 'IrreducibleError';
}
