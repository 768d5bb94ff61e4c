import { z } from 'zod';

/** OpenAI's and Anthropic's shape, and the bare one of vLLM before 0.10. */
const errorBody = z.union([
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform((body) => body.error.message),
  z.looseObject({ error: z.string() }).transform((body) => body.error),
  z.looseObject({ message: z.string() }).transform((body) => body.message),
  z.string(),
]);

/** The message of an error body, `undefined` where the body is not JSON or has none. */
export function errorMessage(body: string): string | undefined {
  try {
    return errorBody.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}
