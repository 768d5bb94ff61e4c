import { LRUCache } from 'lru-cache';
import type { Forwarder } from './forwarder.js';

const KEPT_MS = 60_000;
const MOST_KEPT = 1000;

/** Whether the upstream takes a credential: asked with `GET /v1/models`, and kept for a minute. */
export class CredentialCheck {
  readonly #answers = new LRUCache<string, Promise<boolean>>({ max: MOST_KEPT, ttl: KEPT_MS });

  constructor(private readonly forwarder: Forwarder) {}

  /** False for 401 and 403, and where the upstream does not answer. */
  areAccepted(credential: string | undefined): Promise<boolean> {
    const key = credential ?? '';
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
      let status = 0;
      this.forwarder.send(
        { method: 'GET', path: '/v1/models', headers, body: null },
        {
          onHead: (code) => {
            status = code;
          },
          onData: () => true,
          onEnd: () => resolve(status !== 401 && status !== 403),
          onError: () => resolve(false),
        },
      );
    });
  }
}
