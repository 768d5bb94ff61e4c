import type { ExchangeCall } from '../exchange/parts.js';
import type { Answer } from '../stream/answer.js';

/** Aborts when the client goes before its answer's end. The signal is made when it is first asked for. */
export class ClientCall implements ExchangeCall {
  #controller: AbortController | undefined;
  #gone = false;

  constructor(
    answer: Answer,
    readonly credential: string | undefined,
    readonly apiKey: string | undefined,
    readonly tenant: string | undefined,
    readonly conversationId: string | undefined,
    readonly path: string,
  ) {
    answer.onClientGone(() => {
      this.#gone = true;
      this.#controller?.abort();
    });
  }

  // An exchange whose count is cached never asks, and an AbortSignal costs as much as the decision.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#gone) this.#controller.abort();
    }
    return this.#controller.signal;
  }
}
