import { createHash } from 'node:crypto';
import { Attempts } from './attempts.js';
import { ChatTemplates } from './chat-template.js';
import { Meters } from './meters.js';
import type { ResolvedOptions, ServedModel } from './options.js';
import { PrefixCache } from './prefix-cache.js';
import { PromptRenderer } from './prompt.js';
import type { PythonValue } from './python-value.js';
import { modelNotFound } from './refusal.js';
import { loadQwen, type QwenTokenizer } from './tokenizer.js';

const cachedTokens = 4_000_000;

/** What one running simulator's routes share. */
export class Instance {
  readonly meters = new Meters();
  readonly attempts = new Attempts();
  private requests = 0;
  private readonly prefixCaches = new Map<string, PrefixCache>();

  private constructor(
    readonly options: ResolvedOptions,
    readonly tokenizer: QwenTokenizer,
    readonly renderer: PromptRenderer,
  ) {}

  /** @throws MissingPackageError */
  static async create(options: ResolvedOptions): Promise<Instance> {
    const [qwen, templates] = await Promise.all([loadQwen(), ChatTemplates.load()]);
    return new Instance(options, qwen.tokenizer, new PromptRenderer(templates, qwen.chatTemplate, options));
  }

  /** A request without a model, or with an empty one, means the first. @throws Refusal 404 */
  model(name: PythonValue | undefined): ServedModel {
    const { models, vllm } = this.options;
    const [first] = models;
    const wanted = typeof name === 'string' && name !== '' ? name : first?.id;
    const found = models.find((model) => model.id === wanted || model.aliases?.includes(wanted ?? ''));
    if (found !== undefined) return found;
    const names = models.flatMap((model) => [model.id, ...(model.aliases ?? [])]);
    throw modelNotFound(String(name), names, vllm);
  }

  prefixCache(model: ServedModel): PrefixCache {
    const known = this.prefixCaches.get(model.id) ?? new PrefixCache(cachedTokens);
    this.prefixCaches.set(model.id, known);
    return known;
  }

  /** A new id of 16 hex digits: the n-th of any instance is always the same. */
  nextId(): string {
    this.requests += 1;
    return createHash('sha256').update(String(this.requests)).digest('hex').slice(0, 16);
  }

  get fingerprint(): string | null {
    return this.options.vllm === '0.16' ? null : 'vllm-0.32.0-51b1a7ed';
  }
}

/** Seconds since 1970. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}
