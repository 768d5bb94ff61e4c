import { LRUCache } from 'lru-cache';
import type { AnswerPiece } from './answer.js';
import type { QwenTokenizer } from './tokenizer.js';

interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** What stands in the place of one token: the chosen first, then others, ever less likely. */
interface Ranking {
  readonly all: readonly TokenLogprob[];
  /** Logarithms by token. */
  readonly byToken: Readonly<Record<string, number>>;
}

/** Shared between answers, which show few tokens often. */
const rankings = new LRUCache<string, Ranking>({ max: 10_000 });

/** Made up, but in the real shape: the chosen token and `count - 1` others. */
function ranking(id: number, count: number, tokenizer: QwenTokenizer): Ranking {
  const key = `${id}:${count}`;
  const known = rankings.get(key);
  if (known !== undefined) return known;
  const others = Array.from({ length: Math.max(0, count - 1) }, (_, at) => {
    const word = tokenizer.words[(id + 1 + at) % tokenizer.words.length];
    return word?.id ?? id;
  });
  const all = [id, ...others].map((candidate, rank) => {
    const token = tokenizer.decode([candidate]);
    return { token, logprob: logprob(id, rank), bytes: [...Buffer.from(token)] };
  });
  const made = { all, byToken: Object.fromEntries(all.map((one) => [one.token, one.logprob])) };
  rankings.set(key, made);
  return made;
}

function logprob(id: number, rank: number): number {
  return -(0.0625 + (id % 64) / 64 + rank);
}

/** `logprobs` of a chat choice or chunk. */
export function chatLogprobs(ids: readonly number[], top: number, tokenizer: QwenTokenizer): object {
  const content = ids.map((id) => {
    const { all } = ranking(id, Math.max(1, top), tokenizer);
    return { ...all[0], top_logprobs: top > 0 ? all : [] };
  });
  return { content };
}

/** `prompt_logprobs`: nothing for the first token, for each other the one that stands there. */
export function promptLogprobs(ids: readonly number[], tokenizer: QwenTokenizer): object {
  return ids.map((id, at) =>
    at === 0 ? null : { [id]: { logprob: logprob(id, 0), rank: 1, decoded_token: tokenizer.decode([id]) } },
  );
}

/** `logprobs` of a text completion. */
export function textLogprobs(pieces: readonly AnswerPiece[], top: number, tokenizer: QwenTokenizer): object {
  const offsets: number[] = [];
  let at = 0;
  for (const piece of pieces) {
    for (const _ of piece.tokenIds) offsets.push(at);
    at += piece.text?.length ?? 0;
  }
  const ids = pieces.flatMap((piece) => piece.tokenIds);
  return {
    text_offset: offsets,
    token_logprobs: ids.map((id) => logprob(id, 0)),
    tokens: ids.map((id) => tokenizer.decode([id])),
    top_logprobs: ids.map((id) => ranking(id, Math.max(1, top), tokenizer).byToken),
  };
}
