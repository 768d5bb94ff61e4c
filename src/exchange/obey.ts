import { ownForm } from '../chat-form/chat-form.js';
import type { Command } from './commands.js';
import { Dialogue } from './dialogue.js';
import type { ExchangeParts } from './parts.js';
import { type Plan, unchanged } from './plan.js';
import { type PrepareOptions, prepareExchange } from './prepare.js';
import { readRequest } from './read.js';

/** What was done for a command, and what to say of it. */
export interface Obeyed {
  readonly plan: Plan;
  readonly text: string;
}

/**
 * Does what a person told the proxy.
 * @param body the request without the command. Rejects only when the exchange was aborted.
 */
export async function obey(
  command: Command,
  body: Buffer,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Obeyed> {
  if (parts.engine.host === undefined || options.clampOnly === true) {
    return { plan: unchanged(body, 'command'), text: 'There is no context engine here: nothing was done.' };
  }
  if (command.kind === 'compress') return await compress(command.focus, body, options, parts);
  await reset(body, options, parts);
  return { plan: unchanged(body, 'command'), text: 'A new conversation begins here.' };
}

async function compress(
  focus: string | undefined,
  body: Buffer,
  options: PrepareOptions,
  parts: ExchangeParts,
): Promise<Obeyed> {
  const done = await prepareExchange(body, { ...options, order: { focus } }, parts);
  const { model, promptTokens, originalPromptTokens, window, contextLength } = done.facts;
  const facts = { model, promptTokens, originalPromptTokens, window, contextLength };
  const plan: Plan = { ...done, reason: 'command', facts, visit: undefined };
  if (done.action === 'compressed' && HELPED.has(done.reason)) {
    return { plan, text: `Compressed from ${originalPromptTokens} to ${promptTokens} tokens.` };
  }
  const why = WHY_NOT.get(done.reason) ?? done.reason.replaceAll('_', ' ');
  return { plan: { ...plan, action: 'unchanged' }, text: `Nothing was compressed: ${why}.` };
}

const HELPED: ReadonlySet<string> = new Set(['compression_due', 'clamped_to_context']);

const WHY_NOT: ReadonlyMap<string, string> = new Map([
  ['fits', 'there is nothing to compress'],
  ['cap_inserted', 'there is nothing to compress'],
  ['irreducible', 'there is nothing left that could go'],
  ['compression_failed', 'the context engine failed'],
  ['compression_timeout', 'it took too long'],
]);

async function reset(body: Buffer, options: PrepareOptions, parts: ExchangeParts): Promise<void> {
  const { signal } = options.call;
  try {
    const reading = readRequest(body, options.endpoint, parts.bodies);
    if (reading.kind === 'pass') return;
    const form = ownForm(reading.request);
    await Dialogue.of({ ...reading, form }, parts.models.resolve(reading.model), options, parts)?.reset();
  } catch (error) {
    signal.throwIfAborted();
    parts.warnings.failOpen('internal_error', error);
  }
}
