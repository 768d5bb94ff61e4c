import type { AnswerPiece } from './answer.js';

export interface IndexedPiece {
  readonly index: number;
  readonly piece: AnswerPiece;
}

/** The pieces of all choices, one of each in turn, as a batch decodes them. */
export function* inTurn(streams: readonly Iterator<AnswerPiece>[]): Generator<IndexedPiece> {
  const open = new Set(streams.keys());
  while (open.size > 0) {
    for (const index of [...open]) {
      const next = streams[index]?.next();
      if (next === undefined || next.done === true) open.delete(index);
      else yield { index, piece: next.value };
    }
  }
}

/** All pieces of the first choice, then of the next. */
export function* oneAfterAnother(streams: readonly Iterator<AnswerPiece>[]): Generator<IndexedPiece> {
  for (const [index, stream] of streams.entries()) {
    for (let next = stream.next(); next.done !== true; next = stream.next())
      yield { index, piece: next.value };
  }
}
