import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Forwarder } from './forwarder.js';

/** How long an accepted credential is not asked about again. */
export const CREDENTIAL_KEPT_MS = 60_000;
const MOST_KEPT = 1000;
const LONGEST_MS = 10_000;

/** Whether the upstream takes a credential: asked with `GET /v1/models`, and kept for a minute. */
export class CredentialCheck {
  readonly #answers: LRUCache<string, Promise<boolean>>;

  constructor(
    private readonly forwarder: Forwarder,
    keptMs = CREDENTIAL_KEPT_MS,
  ) {
    this.#answers = new LRUCache({ max: MOST_KEPT, ttl: keptMs });
  }

  /** False for 401 and 403, and where the upstream does not answer. */
  areAccepted(credential: string | undefined): Promise<boolean> {
    // No credential stays in memory longer than its request.
    const key = hash('sha256', credential ?? '', 'base64url');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#ask(credential);
    this.#answers.set(key, answer);
    void answer.then((isAccepted) => {
      if (!isAccepted) this.#answers.delete(key);
    });
    return answer;
  }

  #ask(credential: string | undefined): Promise<boolean> {
    const headers = ['host', this.forwarder.host];
    if (credential !== undefined) headers.push('authorization', credential);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (isAccepted: boolean): void => {
        clearTimeout(timer);
        resolve(isAccepted);
      };
      const call = this.forwarder.send(
        { method: 'GET', path: '/v1/models', headers, body: null },
        {
          onHead: (status) => end(status !== 401 && status !== 403),
          onData: () => true,
          onEnd: () => {},
          onError: () => end(false),
        },
      );
      timer = setTimeout(() => {
        call.abort();
        end(false);
      }, LONGEST_MS).unref();
    });
  }
}
