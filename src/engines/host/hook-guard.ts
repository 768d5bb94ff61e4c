import { HookTimeoutError, withinTime } from './deadline.js';
import type { HostObserver } from './host-observer.js';
import type { HostLimits } from './host-settings.js';
import type { LiveConversation } from './live-conversation.js';

/** Calls hooks: none can fail what it is called for, nor hold it for long. */
export class HookGuard {
  readonly #pausedUntil = new WeakMap<LiveConversation, number>();

  constructor(
    private readonly observer: Pick<HostObserver, 'hookFailed'>,
    private readonly limits: Pick<HostLimits, 'hookMs' | 'hookPauseMs'>,
  ) {}

  /** How long a hook may take that something waits for. */
  get hookMs(): number {
    return this.limits.hookMs;
  }

  /** A hook that something waits for. Never rejects. */
  async asked<T>(
    hook: string,
    conversation: LiveConversation,
    otherwise: T,
    ask: () => Promise<T>,
  ): Promise<T> {
    if (this.isPaused(conversation)) return otherwise;
    return await this.called(hook, otherwise, this.hookMs, ask, () => this.pause(conversation));
  }

  /** Never rejects: what fails, or is late, gives the other value. */
  async called<T>(
    hook: string,
    otherwise: T,
    ms: number,
    call: () => Promise<T>,
    onLate?: () => void,
  ): Promise<T> {
    try {
      return await withinTime(ms, call);
    } catch (error) {
      if (error instanceof HookTimeoutError) onLate?.();
      this.observer.hookFailed(hook, error);
      return otherwise;
    }
  }

  isPaused(conversation: LiveConversation): boolean {
    return (this.#pausedUntil.get(conversation) ?? 0) > performance.now();
  }

  pause(conversation: LiveConversation): void {
    this.#pausedUntil.set(conversation, performance.now() + this.limits.hookPauseMs);
  }
}
