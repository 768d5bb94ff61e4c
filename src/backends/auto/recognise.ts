import { z } from 'zod';
import { type BodyReader, wholeBody } from '../calls/body-reader.js';
import { MODELS_LIMIT, type ModelCard, positive, readCards } from '../calls/model-list.js';
import { refusal, StatusError } from '../calls/refusal.js';
import type { Asking, ServerClient } from '../calls/server-client.js';

/** Servers that count, as their backends are called; `none`: another one. */
export type Recognised = 'vllm' | 'llamacpp' | 'none';

/** What was recognised, and by which list of models. */
export interface Sight {
  readonly recognised: Recognised;
  readonly list: string;
}

/** Answers that tell what a server is are short. In bytes. */
const LIMIT = 8 * 1024 * 1024;
const version = z.looseObject({ version: z.string() });
const props = z.looseObject({
  default_generation_settings: z.looseObject({ n_ctx: z.int().positive() }),
});

/**
 * Which kind of server answers, from its list of models; where a gateway or an alias hides who owns them, from what
 * only one kind of server answers.
 * @param before what was seen last: an equal list is no reason to ask for more.
 * @throws CountFailedError where the list cannot be had; the signal's reason when it aborts
 */
export async function recognise(
  client: Pick<ServerClient, 'get'>,
  upstream: string,
  call: Omit<Asking, 'url'>,
  before?: Sight,
): Promise<Sight> {
  const ask = <T>(path: string, read: (body: Buffer) => T): Promise<T> =>
    client.get(
      { ...call, url: `${upstream}${path}` },
      (status): BodyReader<T> =>
        status === 200 ? wholeBody(Math.max(LIMIT, MODELS_LIMIT), read) : refusal(status),
    );
  const cards = await ask('/v1/models', readCards);
  const list = JSON.stringify(cards.map(({ id, owned_by, max_model_len }) => [id, owned_by, max_model_len]));
  if (before?.list === list) return before;
  const owner = ownerOf(cards);
  if (owner !== undefined) return { recognised: owner, list };
  const has = (schema: z.ZodType) => (body: Buffer) => isLike(schema, body);
  if (cards.some(isOfVllm) && (await ifThere(ask('/version', has(version))))) {
    return { recognised: 'vllm', list };
  }
  return { recognised: (await ifThere(ask('/props', has(props)))) ? 'llamacpp' : 'none', list };
}

function ownerOf(cards: readonly ModelCard[]): Recognised | undefined {
  const owners = new Set(cards.map(({ owned_by }) => owned_by));
  if (owners.has('vllm')) return 'vllm';
  return owners.has('llamacpp') ? 'llamacpp' : undefined;
}

/** SGLang's cards have vLLM's member, but it counts in no way of vLLM's. */
function isOfVllm(card: ModelCard): boolean {
  return positive(card.max_model_len) !== undefined && card.owned_by !== 'sglang';
}

function isLike(schema: z.ZodType, body: Buffer): boolean {
  try {
    return schema.safeParse(JSON.parse(body.toString('utf8'))).success;
  } catch {
    return false;
  }
}

/** A refusal means that the server is of another kind. */
async function ifThere(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
