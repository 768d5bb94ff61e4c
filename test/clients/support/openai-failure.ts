import type { ToldFailure } from './client.js';

/** What an error of the clients that OpenAI's generator makes tells. */
export function openAiFailure(error: unknown): ToldFailure {
  const { status, headers } = error as { status?: number; headers?: Headers };
  return { status, retryAfter: headers?.get('retry-after') ?? undefined };
}
