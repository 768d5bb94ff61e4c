import type { RawObject } from '../../body/raw-object.js';
import type { Message } from '../../conversation/message.js';
import type { CompleteOptions, Completion } from '../services.js';

/**
 * What an exchange lends to the host: its request, and the two things that engines ask of the upstream. Stays of use
 * after the exchange, for a pass in the background; the caller's credential lives here, in memory only.
 */
export interface ExchangeLink {
  /** The client's request, whole, without private fields. */
  readonly request: RawObject;
  /** With them: they are read, and never sent. */
  readonly sent: RawObject;
  readonly tenant: string;
  /** The id that the client gave its conversation. */
  readonly explicitId: string | undefined;
  /** Locates the members of a rendered request. */
  read(bytes: Buffer): RawObject;
  /**
   * P of a request, exact or estimated. Rejects where neither can be had.
   * @param mustBeAccepted rejects too where the tokenizer answers, and refuses the request.
   */
  count(request: RawObject, signal: AbortSignal, mustBeAccepted: boolean): Promise<number>;
  /** @throws CompletionError */
  complete(messages: readonly Message[], options: CompleteOptions): Promise<Completion>;
}

/** The numbers of the decision that an exchange stands at. Token counts. */
export interface ExchangeBudget {
  /** The model's id upstream. */
  readonly model: string;
  readonly contextLength: number;
  readonly window: number;
  readonly reserve: number;
  readonly required: number;
  readonly promptTokens: number;
  /** False where P is an estimate. */
  readonly isExact: boolean;
  /** True where P is that of what the engine selected for this request, not of the whole view. */
  readonly isSelection: boolean;
}
