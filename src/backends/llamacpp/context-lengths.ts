import { z } from 'zod';
import { wholeBody } from '../calls/body-reader.js';
import { MODELS_LIMIT, type ModelCard, positive, readModels } from '../calls/model-list.js';
import { refusal } from '../calls/refusal.js';
import type { Asking, ServerClient } from '../calls/server-client.js';
import { CountFailedError, type ModelDescription } from '../contract.js';

/** After this long the list is read anew; the proxy's own look at the server is more frequent. */
const OLD_MS = 30_000;
const PROPS_LIMIT = 8 * 1024 * 1024;

const meta = z.looseObject({ n_ctx: z.unknown() });
const props = z.looseObject({ default_generation_settings: meta });

/**
 * What the server says of its models. The context of one slot is what a request has: `meta.n_ctx` of the list, or
 * `n_ctx` of `/props` on servers whose list lacks it.
 */
export class ContextLengths {
  #listed: readonly ModelDescription[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly client: ServerClient,
    private readonly upstream: string,
    private readonly now: () => number,
  ) {}

  /** @throws CountFailedError; the signal's reason when it aborts */
  async list(call: Omit<Asking, 'url'>): Promise<readonly ModelDescription[]> {
    const models = await this.client.get({ ...call, url: `${this.upstream}/v1/models` }, (status) =>
      status === 200 ? wholeBody(MODELS_LIMIT, (body) => readModels(body, slotContext)) : refusal(status),
    );
    const [only] = models;
    const lacks = models.length === 1 && only !== undefined && only.contextLength === undefined;
    this.#listed = lacks ? [{ id: only.id, contextLength: await this.#fromProps(call) }] : models;
    this.#listedAt = this.now();
    return this.#listed;
  }

  /** A server of one model serves it under any name. */
  of(model: unknown): number | undefined {
    const [only] = this.#listed;
    const named = this.#listed.find(({ id }) => id === model);
    return (named ?? (model === undefined || this.#listed.length === 1 ? only : undefined))?.contextLength;
  }

  /** Never read, or long ago. */
  get isOld(): boolean {
    return this.now() - this.#listedAt > OLD_MS;
  }

  async #fromProps(call: Omit<Asking, 'url'>): Promise<number | undefined> {
    try {
      return await this.client.get({ ...call, url: `${this.upstream}/props` }, (status) =>
        status === 200 ? wholeBody(PROPS_LIMIT, readProps) : refusal(status),
      );
    } catch (error) {
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }
}

function slotContext(card: ModelCard): number | undefined {
  return positive(meta.safeParse(card.meta).data?.n_ctx);
}

function readProps(body: Buffer): number | undefined {
  try {
    return positive(props.parse(JSON.parse(body.toString('utf8'))).default_generation_settings.n_ctx);
  } catch {
    return undefined;
  }
}
