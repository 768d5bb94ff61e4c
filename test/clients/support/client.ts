export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Ask {
  readonly model: string;
  readonly turns: readonly Turn[];
  /** Tokens of the answer. */
  readonly cap: number;
  readonly signal?: AbortSignal;
  /** With every piece of text. */
  readonly onText?: () => void;
}

/** A tool without a choice: it looks somewhere, and answers with a text. */
export const LOOK = {
  name: 'look',
  description: 'Looks in a direction',
  schema: {
    type: 'object',
    properties: { at: { type: 'string' } },
    required: ['at'],
  },
} as const;

export type Look = (at: unknown) => string;

/** What a client told of a failure that it gave up on. */
export interface ToldFailure {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
}

/** One way to ask with one client, as its users do. All texts are those of the last answer. */
export interface Client {
  readonly name: string;
  /** A client of a proxy at this base, that tries so many times again. */
  at(proxyUrl: string, retries: number): Asking;
}

export interface Asking {
  ask(ask: Ask): Promise<string>;
  stream(ask: Ask): Promise<string>;
  /** Lets the model look until it has nothing more to look at. */
  useTool(ask: Ask, look: Look, streams: boolean): Promise<string>;
  failureOf(error: unknown): ToldFailure;
}
