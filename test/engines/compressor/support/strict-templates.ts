import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { BOOKKEEPING, type Message } from '../../../../src/conversation/message.js';

/** Of real models: fixtures/chat-templates/README.md. */
export const TEMPLATES = { gemma: load('gemma3.jinja'), mistral: load('mistral_v3_tekken.jinja') } as const;

export type TemplateName = keyof typeof TEMPLATES;

/**
 * The prompt that a server makes of messages as they leave the proxy.
 * @throws Error with the template's own words where it refuses them
 */
export function rendered(name: TemplateName, messages: readonly Message[]): string {
  return TEMPLATES[name].render({
    messages: messages.map(sent),
    bos_token: '<s>',
    eos_token: '</s>',
    add_generation_prompt: true,
  });
}

function sent(message: Message): object {
  return Object.fromEntries(Object.entries(message).filter(([member]) => !BOOKKEEPING.has(member)));
}

function load(file: string): Template {
  return new Template(
    readFileSync(new URL(`../../../fixtures/chat-templates/${file}`, import.meta.url), 'utf8'),
  );
}
