import { z } from 'zod';

const refusal = z.looseObject({ error: z.looseObject({ type: z.literal('exceed_context_size_error') }) });

/** True where llama.cpp refuses a prompt that fills its context: it does so on every generation endpoint alike. */
export function isLlamacppOverflow(status: number, body: string): boolean {
  if (status !== 400) return false;
  try {
    return refusal.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}
