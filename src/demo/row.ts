import type { CapField } from '../budget/cap-field.js';

/** The output caps of a request, as the client wrote them. */
export type Caps = Partial<Record<Extract<CapField, 'max_tokens' | 'max_completion_tokens'>, number>>;

/** What the proxy told about a request, by its answer headers; `undefined` where it told nothing. */
export interface Told {
  readonly action: string | undefined;
  readonly reason: string | undefined;
  readonly source: string | undefined;
  readonly promptTokens: number | undefined;
  /** What the client's own request would have counted. */
  readonly originalPromptTokens: number | undefined;
  readonly window: number | undefined;
  readonly contextLength: number | undefined;
  readonly maxTokens: number | undefined;
}

/** One request of the demo, and what came back. */
export interface Row {
  /** From 1. */
  readonly step: number;
  /** What the client asked for. */
  readonly asks: string;
  readonly caps: Caps;
  readonly told: Told;
  /** HTTP status of the answer through the proxy; `undefined` where none came. */
  readonly status: number | undefined;
  readonly finishReason: string | undefined;
  /** What the server itself counted, from the answer's `usage`. */
  readonly usagePromptTokens: number | undefined;
  /** HTTP status of the same request without the proxy. */
  readonly directStatus: number | undefined;
  /** One sentence where the columns do not speak for themselves. */
  readonly note: string | undefined;
  /** In what the outcome differs from the story; empty: in nothing. */
  readonly surprises: readonly string[];
}

const PREFIX = 'x-incontext-';

/** Reads the answer headers. */
export function readTold(headers: Headers): Told {
  const text = (name: string) => headers.get(PREFIX + name) ?? undefined;
  const count = (name: string) => {
    const value = text(name);
    return value === undefined ? undefined : Number(value);
  };
  return {
    action: text('action'),
    reason: text('reason'),
    source: text('source'),
    promptTokens: count('prompt-tokens'),
    originalPromptTokens: count('original-prompt-tokens'),
    window: count('window'),
    contextLength: count('context-length'),
    maxTokens: count('max-tokens'),
  };
}
