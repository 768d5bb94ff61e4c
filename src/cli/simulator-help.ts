import { wrap } from './wrap.js';

const FLAGS = [
  ['--host ADDRESS', 'The address to listen on. Default: 127.0.0.1.'],
  ['--port N', 'The port to listen on. Default: 0, any free one.'],
  ['--vllm VERSION', 'The vLLM to behave like: 0.16 or 0.32. Default: 0.32.'],
  ['--model NAME[=LENGTH]', 'A model, and its context length. Can be given more than once.'],
  ['--max-model-len N', 'The context length of models given without one. Default: 8192.'],
  ['--api-key KEY', 'The key that a client must send. Default: none is asked for.'],
  ['--chunk-delay-ms N', 'Milliseconds before each piece of an answer. Default: 0.'],
] as const;

/** The flags of `simulate`, laid out for its help. */
export const SIMULATOR_FLAGS: readonly string[] = FLAGS.map(
  ([flag, description]) => `  ${flag}\n${wrap(description, 6)}`,
);
