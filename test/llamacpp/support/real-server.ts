import { inject, test } from 'vitest';

const given = inject('llamacpp');

/** Where the real server answers; empty where there is none. */
export const SERVER = 'url' in given ? given.url : '';

/** One slot's context, in tokens: half of what the server was started with. */
export const SLOT_CONTEXT = 2048;

/** A test that needs the real server: skipped, and counted as such, where it cannot be had. */
export const realTest: ReturnType<typeof test.skipIf> = test.skipIf(SERVER === '');

export interface ChatAnswer {
  readonly choices: readonly {
    readonly message: { readonly content: string | null };
    readonly finish_reason: string;
  }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number };
  };
}

/** Posts to the real server, not through the proxy. */
export function post(path: string, body: object | string): Promise<Response> {
  return fetch(SERVER + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** How many slots are generating. */
export async function busySlots(): Promise<number> {
  const slots = (await (await fetch(`${SERVER}/slots`)).json()) as readonly { is_processing: boolean }[];
  return slots.filter((slot) => slot.is_processing).length;
}

/** Waits until `isSo` holds, at most `ms`. */
export async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}
