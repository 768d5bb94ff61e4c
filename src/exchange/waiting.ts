import type { Answer } from '../stream/answer.js';
import { WaitingClient, type WaitingTimes } from '../stream/waiting-client.js';
import type { CredentialCheck } from '../upstream/credential-check.js';
import type { ExchangeParts } from './parts.js';
import type { Plan } from './plan.js';

export interface WaitingParts extends Pick<ExchangeParts, 'bodies'> {
  readonly credentials: CredentialCheck;
  readonly waitingTimes: WaitingTimes;
}

/** What a client hears while its exchange waits for a compression. Costs nothing where there is none. */
export class Waiting {
  #client: WaitingClient | undefined;

  constructor(
    private readonly body: Buffer,
    private readonly credential: string | undefined,
    private readonly answer: Answer,
    private readonly parts: WaitingParts,
  ) {}

  start(): void {
    const { bodies, credentials, waitingTimes } = this.parts;
    const read = bodies.read(this.body);
    // Others would not understand comments.
    if (read.kind !== 'object' || read.object.text('stream') !== 'true') return;
    const mayBegin = () => credentials.areAccepted(this.credential);
    this.#client ??= new WaitingClient(this.answer, { ...waitingTimes, mayBegin });
    this.#client.start();
  }

  stop(plan: Plan | undefined): void {
    this.#client?.stop(plan === undefined ? '' : outcomeOf(plan));
  }
}

function outcomeOf({ action, reason, facts }: Plan): string {
  const count = facts.promptTokens === undefined ? '' : ` prompt-tokens=${facts.promptTokens}`;
  return `action=${action} reason=${reason}${count}`;
}
