import type { VllmVersion } from './version.js';

export interface ServedModel {
  readonly id: string;
  /** Tokens of prompt and answer together. */
  readonly maxModelLen: number;
  /** Further names of the same model; answers carry `id`. */
  readonly aliases?: readonly string[];
}

/** How to start a simulator; every member has a default. */
export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (default): any free port. */
  readonly port?: number;
  /** Default 0.32. */
  readonly vllm?: VllmVersion;
  /** Default: one model `simulated` of 8192 tokens. */
  readonly models?: readonly ServedModel[];
  /** Required as `Authorization: Bearer KEY` where the real server requires it. */
  readonly apiKey?: string;
  /** Milliseconds before each chunk of a generation; default 0. */
  readonly chunkDelayMs?: number;
  /** Milliseconds before each answer of `/tokenize`; default 0. */
  readonly tokenizeDelayMs?: number;
  /** Certificate and key in PEM: serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** vLLM's `--enable-scale-out`: the `/render` endpoints of 0.32. */
  readonly enableScaleOut?: boolean;
  /** vLLM's `--trust-request-chat-template`. */
  readonly trustRequestChatTemplate?: boolean;
  /** vLLM's `--exclude-tools-when-tool-choice-none`. */
  readonly excludeToolsWhenToolChoiceNone?: boolean;
  /** vLLM's `--default-chat-template-kwargs`. */
  readonly defaultChatTemplateKwargs?: Readonly<Record<string, unknown>>;
  /** vLLM's `--reasoning-parser`: what is thought before `</think>` is answered as `reasoning`. */
  readonly reasoningParser?: string;
  /** vLLM's `--enable-auto-tool-choice`, with a parser; default true. Without: tools are refused unless demanded. */
  readonly enableAutoToolChoice?: boolean;
  /** Report `prompt_tokens_details.cached_tokens`; default true, unlike vLLM's own default. */
  readonly enablePromptTokensDetails?: boolean;
}

/** Options with all defaults in place. */
export interface ResolvedOptions {
  readonly host: string;
  readonly port: number;
  readonly vllm: VllmVersion;
  readonly models: readonly ServedModel[];
  readonly apiKey: string | undefined;
  readonly chunkDelayMs: number;
  readonly tokenizeDelayMs: number;
  readonly tls: SimulatorOptions['tls'];
  readonly enableScaleOut: boolean;
  readonly trustRequestChatTemplate: boolean;
  readonly excludeToolsWhenToolChoiceNone: boolean;
  readonly defaultChatTemplateKwargs: Readonly<Record<string, unknown>>;
  readonly reasoningParser: string | undefined;
  readonly enableAutoToolChoice: boolean;
  readonly enablePromptTokensDetails: boolean;
}

export const defaultModelName = 'simulated';
export const defaultMaxModelLen = 8192;

export function resolveOptions(options: SimulatorOptions): ResolvedOptions {
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    vllm: options.vllm ?? '0.32',
    models: options.models ?? [{ id: defaultModelName, maxModelLen: defaultMaxModelLen }],
    apiKey: options.apiKey,
    chunkDelayMs: options.chunkDelayMs ?? 0,
    tokenizeDelayMs: options.tokenizeDelayMs ?? 0,
    tls: options.tls,
    enableScaleOut: options.enableScaleOut ?? false,
    trustRequestChatTemplate: options.trustRequestChatTemplate ?? false,
    excludeToolsWhenToolChoiceNone: options.excludeToolsWhenToolChoiceNone ?? false,
    defaultChatTemplateKwargs: options.defaultChatTemplateKwargs ?? {},
    reasoningParser: options.reasoningParser,
    enableAutoToolChoice: options.enableAutoToolChoice ?? true,
    enablePromptTokensDetails: options.enablePromptTokensDetails ?? true,
  };
}
