import type { AnswerPiece } from './answer.js';
import { type Call, ClientGone } from './call.js';
import { Refusal } from './refusal.js';
import type { Script } from './script-schema.js';

/** Plays the parts of a script that happen around the pieces: delays, failures, silence, cuts. */
export class ScriptRun {
  private chunks = 0;
  private readonly chunkDelay: number;

  constructor(
    private readonly call: Call,
    private readonly script: Script,
    defaultChunkDelay: number,
  ) {
    this.chunkDelay = script.chunk_delay_ms ?? defaultChunkDelay;
    call.deliver({
      headers: script.headers,
      splitBytes: script.split_bytes,
      resets: script.reset,
      closesNext: script.close_next,
    });
  }

  /** Before the head. @throws Refusal for a scripted failure, ClientGone after a scripted end */
  async begin(streams: boolean): Promise<void> {
    await this.call.pause(this.script.delay_ms ?? 0);
    if (this.script.hang === true) await this.call.hang();
    if (this.script.cut_after_chunks === 0) {
      await this.call.cut();
      throw new ClientGone();
    }
    const { status, error } = this.script;
    if (status !== undefined || (error !== undefined && !streams)) {
      await this.fail(new Refusal(status ?? 500, JSON.stringify(scriptedError(status ?? 500, error))));
    }
  }

  /** A failure comes in one piece: silence and cuts fall into its middle. */
  private async fail(refusal: Refusal): Promise<never> {
    if (typeof this.script.hang === 'number') {
      this.call.beginHalf(refusal);
      await this.call.hang();
    }
    if (this.script.cut_after_chunks === undefined) throw refusal;
    await this.call.cut(refusal);
    throw new ClientGone();
  }

  /** Before each chunk; true when the connection is to break here. */
  async beforeChunk(): Promise<boolean> {
    if (await this.breaksHere()) return true;
    this.chunks += 1;
    await this.call.pause(this.chunkDelay);
    return false;
  }

  /** Between chunks, and behind the last; true when the connection is to break here. */
  async breaksHere(): Promise<boolean> {
    if (this.script.hang === this.chunks) await this.call.hang();
    return this.script.cut_after_chunks !== undefined && this.chunks >= this.script.cut_after_chunks;
  }

  /** What a stream ends with instead of its result; null when nothing went wrong. */
  inBandError(): object | null {
    return this.script.error === undefined ? null : scriptedError(500, this.script.error);
  }
}

/** Pieces of a made-up answer before an error that comes in a stream. */
const piecesBeforeError = 3;

/** The script by which a stream's pieces are made: what an error breaks off is short, unless it is scripted. */
export function streamedScript(script: Script): Script {
  const isScripted =
    script.text !== undefined || script.tool_calls !== undefined || script.reasoning !== undefined;
  if (script.error === undefined || isScripted) return script;
  return { tokens: piecesBeforeError, ...script };
}

/** Pieces that an error follows: none of them finishes. */
export function* unfinished(pieces: Iterable<AnswerPiece>): Generator<AnswerPiece> {
  for (const { finish, ...piece } of pieces) {
    if (finish === undefined || piece.tokenIds.length > 0) yield piece;
  }
}

export function scriptedError(code: number, error: unknown): object {
  if (typeof error === 'object' && error !== null) return { error };
  const type = code >= 500 ? 'InternalServerError' : 'BadRequestError';
  const message = typeof error === 'string' ? error : `scripted failure with status ${code}`;
  return { error: { message, type, param: null, code } };
}
