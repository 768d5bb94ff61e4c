import type { PassFailure } from './compress-view.js';

/** What the host tells of its work: codes, counts and exception types. */
export interface HostObserver {
  /** A pass ended: for `incontext_compressions_total`. */
  compressed(result: 'compressed' | 'prepared' | PassFailure): void;
  /** Why a pass failed; the exception's type is what may be told of it. */
  passFailed(reason: PassFailure, error: unknown): void;
  /** A hook of the engine threw or gave nonsense: the request goes on without it. */
  hookFailed(hook: string, error: unknown): void;
  cloneFailed(engine: string, error: unknown): void;
  storeFailed(error: unknown): void;
  /** The engine changed the system prompt, which stays the client's. */
  headChanged(): void;
  log(level: 'info' | 'warn', code: string, counts: Readonly<Record<string, number>>): void;
}
