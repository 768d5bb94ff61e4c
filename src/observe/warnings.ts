import type { Reason } from '../budget/reason.js';
import { exceptionType, type Log } from './log.js';

const QUIET_MS = 10_000;

/** Warnings about what failed on our side: codes and exception types only, repeated at most every 10 s each. */
export class Warnings {
  readonly #log: Log;
  readonly #lastAt = new Map<string, number>();
  readonly #mismatched = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** A request went through unchanged because something of ours failed. */
  failOpen(reason: Reason, error: unknown): void {
    this.#log.warn({ reason, type: exceptionType(error) }, 'passed unchanged');
  }

  /** No exact count; `code` says why. */
  countFailed(code: string, error: unknown): void {
    if (this.#isDue(`count ${code}`))
      this.#log.warn({ code, type: exceptionType(error) }, 'exact count failed');
  }

  /** The upstream reports other prompt tokens than were counted. `shape`: one of ours. */
  countDrifted(model: string, shape: string, counted: number, reported: number): void {
    if (this.#isDue(`drift ${model} ${shape}`))
      this.#log.warn(
        { model, shape, counted, reported, code: 'count_drift' },
        'the server counts otherwise than its tokenizer',
      );
  }

  /** The store of conversations failed: nothing is lost but what only it knew. */
  storeFailed(error: unknown): void {
    if (this.#isDue('store'))
      this.#log.warn({ type: exceptionType(error) }, 'the store of conversations failed');
  }

  /** The thread that owns the database had ended by itself. */
  storeRestarted(): void {
    this.#log.warn({ code: 'store_restarted' }, 'the thread of the store was started again');
  }

  /** Said at the start: it was there before, and its mode is the user's business. */
  dataFolderOpen(): void {
    this.#log.warn(
      { code: 'data_folder_open' },
      'others may write to the data folder: take that from them with chmod go-w',
    );
  }

  /** A compression pass did not help. */
  passFailed(reason: string, error: unknown): void {
    if (!this.#isDue(`pass ${reason}`)) return;
    this.#log.warn({ reason, type: exceptionType(error) }, 'compression did not help');
  }

  /** A hook of the context engine threw or gave nonsense: the request goes on without it. */
  hookFailed(hook: string, error: unknown): void {
    if (this.#isDue(`hook ${hook}`))
      this.#log.warn({ hook, type: exceptionType(error) }, 'a hook of the context engine failed');
  }

  /** The seed's words. */
  cloneFailed(engine: string, error: unknown): void {
    this.#log.warn(
      { type: exceptionType(error) },
      `Context engine '${engine}' could not be safely copied for this agent`,
    );
  }

  headChanged(): void {
    if (this.#isDue('head'))
      this.#log.warn(
        { code: 'head_changed' },
        'the context engine changed the system prompt: it stays as it was',
      );
  }

  /** A word of the context engine itself. */
  ofEngine(level: 'info' | 'warn', code: string, counts: Readonly<Record<string, number>>): void {
    this.#log[level]({ code, ...counts }, 'context engine');
  }

  /** The server reports another context length than the operator configured. Once a model. */
  windowMismatch(model: string): void {
    if (this.#mismatched.has(model)) return;
    this.#mismatched.add(model);
    this.#log.warn(
      { model, code: 'window_mismatch' },
      'the server reports another context length than configured',
    );
  }

  /** A model's window leaves no room for the reserve. Once for each window. */
  degraded(model: string, window: number, message: string): void {
    const key = `degraded ${model} ${window}`;
    if (this.#lastAt.has(key)) return;
    this.#lastAt.set(key, Number.POSITIVE_INFINITY);
    this.#log.warn({ model, window, reason: 'window_too_small' }, message);
  }

  #isDue(key: string): boolean {
    const now = Date.now();
    if (now - (this.#lastAt.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false;
    this.#lastAt.set(key, now);
    return true;
  }
}
