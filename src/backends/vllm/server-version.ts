import { z } from 'zod';
import { wholeBody } from '../calls/body-reader.js';
import { refusal, StatusError } from '../calls/refusal.js';
import { Remembered, type RememberingCall } from '../calls/remembered.js';
import type { ServerClient } from '../calls/server-client.js';
import { type BackendCall, type CountCall, CountFailedError } from '../contract.js';

/** After this long it is asked anew: a server may come back as another version. */
const OLD_MS = 30_000;
const LIMIT = 64 * 1024;
const answer = z.looseObject({ version: z.string() });

/** Which vLLM the upstream is, where that decides how a request is rendered. */
export class ServerVersion {
  readonly #minor: Remembered<number | undefined>;

  constructor(
    private readonly client: Pick<ServerClient, 'get'>,
    private readonly upstream: string,
    private readonly authorizationOf: (call: BackendCall) => string | undefined,
    now: () => number,
  ) {
    this.#minor = new Remembered(OLD_MS, now);
  }

  /** The `N` of 0.N, infinite from 1.0 on; `undefined` where the server does not say. */
  minor(call: RememberingCall): Promise<number | undefined> {
    return this.#minor.get(call, (asking) => this.#ask(asking));
  }

  /** @throws CountFailedError `unsupported` where it is older than 0.`minor`, or does not say what it is */
  async requireAtLeast(minor: number, call: CountCall): Promise<void> {
    const known = await this.minor(call);
    if (known === undefined || known < minor) throw new CountFailedError('unsupported');
  }

  forget(): void {
    this.#minor.forget();
  }

  async #ask(call: BackendCall): Promise<number | undefined> {
    try {
      const { signal } = call;
      const authorization = this.authorizationOf(call);
      return await this.client.get({ url: `${this.upstream}/version`, authorization, signal }, (status) =>
        status === 200 ? wholeBody(LIMIT, minorOf) : refusal(status),
      );
    } catch (error) {
      // A gateway that has no such path.
      if (error instanceof StatusError) return undefined;
      throw error;
    }
  }
}

function minorOf(body: Buffer): number | undefined {
  try {
    const match = /^(\d+)\.(\d+)/.exec(answer.parse(JSON.parse(body.toString('utf8'))).version);
    if (match === null) return undefined;
    return Number(match[1]) > 0 ? Number.POSITIVE_INFINITY : Number(match[2]);
  } catch {
    return undefined;
  }
}
