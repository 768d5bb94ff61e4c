import type { AnswerPiece } from './answer.js';
import type { QwenTokenizer } from './tokenizer.js';

interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** Made up, but in the real shape: the chosen token first, then `count - 1` others, ever less likely. */
function alternatives(id: number, count: number, tokenizer: QwenTokenizer): TokenLogprob[] {
  const others = Array.from({ length: Math.max(0, count - 1) }, (_, at) => {
    const word = tokenizer.words[(id + 1 + at) % tokenizer.words.length];
    return word?.id ?? id;
  });
  return [id, ...others].map((candidate, rank) => {
    const token = tokenizer.decode([candidate]);
    return { token, logprob: logprob(id, rank), bytes: [...Buffer.from(token)] };
  });
}

function logprob(id: number, rank: number): number {
  return -(0.0625 + (id % 64) / 64 + rank);
}

/** `logprobs` of a chat choice or chunk. */
export function chatLogprobs(ids: readonly number[], top: number, tokenizer: QwenTokenizer): object {
  const content = ids.map((id) => {
    const [chosen, ...others] = alternatives(id, Math.max(1, top), tokenizer);
    return { ...chosen, top_logprobs: top > 0 ? [chosen, ...others] : [] };
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
  const ranked = ids.map((id) => alternatives(id, Math.max(1, top), tokenizer));
  return {
    text_offset: offsets,
    token_logprobs: ids.map((id) => logprob(id, 0)),
    tokens: ids.map((id) => tokenizer.decode([id])),
    top_logprobs: ranked.map((each) => Object.fromEntries(each.map((one) => [one.token, one.logprob]))),
  };
}
