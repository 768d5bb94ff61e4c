import type { Call } from './call.js';
import { Refusal } from './refusal.js';
import type { Script } from './script.js';

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
  }

  /** Before the head. @throws Refusal for a scripted failure */
  async begin(streams: boolean): Promise<void> {
    await this.call.pause(this.script.delay_ms ?? 0);
    if (this.script.hang === true) await this.call.hang();
    const { status, error } = this.script;
    if (status !== undefined || (error !== undefined && !streams)) {
      throw new Refusal(status ?? 500, JSON.stringify(scriptedError(status ?? 500, error)));
    }
  }

  /** Before each chunk; true when the connection is to break here. */
  async beforeChunk(): Promise<boolean> {
    if (this.script.hang === this.chunks) await this.call.hang();
    if (this.script.cut_after_chunks !== undefined && this.chunks >= this.script.cut_after_chunks)
      return true;
    this.chunks += 1;
    await this.call.pause(this.chunkDelay);
    return false;
  }

  /** What a stream ends with instead of its result; null when nothing went wrong. */
  inBandError(): object | null {
    return this.script.error === undefined ? null : scriptedError(500, this.script.error);
  }
}

function scriptedError(code: number, error: unknown): object {
  if (typeof error === 'object' && error !== null) return { error };
  const type = code >= 500 ? 'InternalServerError' : 'BadRequestError';
  const message = typeof error === 'string' ? error : `scripted failure with status ${code}`;
  return { error: { message, type, param: null, code } };
}
