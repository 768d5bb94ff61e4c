import { badRequest } from './refusal.js';

/** Tokens that an answer in one piece may hold: as many as one choice of 131,072 with all its alternatives. */
const mostTokens = 131_072 * 21;

/** Watches how large an answer grows that is kept until it is complete. */
export class AnswerSize {
  private tokens = 0;

  /** @param alternatives shown for each token */
  constructor(private readonly alternatives: number) {}

  get isFull(): boolean {
    return this.tokens > mostTokens;
  }

  /** @throws Refusal when it becomes too large for one machine */
  add(tokens: number): void {
    this.count(tokens);
    if (!this.isFull) return;
    throw badRequest(
      `The simulator keeps at most ${mostTokens} tokens of an answer in one piece, alternatives included. Ask for fewer choices, tokens or logprobs, or for a stream.`,
    );
  }

  count(tokens: number): void {
    this.tokens += tokens * (1 + this.alternatives);
  }
}
