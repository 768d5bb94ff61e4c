import type { Message } from '../../../../src/conversation/message.js';
import type { TestEngine } from '../../../support/engine.js';
import {
  countingStub,
  dialogue,
  goOn,
  type HostedOptions,
  hosted,
  LARGEST_THAT_FITS,
  send,
  until,
} from '../../../support/hosted.js';
import type { TestProxy } from '../../../support/proxy.js';
import type { UpstreamStub } from '../../../support/upstream-stub.js';

/** 0.8 of the way to the trigger. */
export const SOFT = Math.ceil(0.8 * LARGEST_THAT_FITS);
export const EARLY = { prepare: 0.8 };

/** Time for what comes after an answer. */
export const quiet = () => new Promise((resolve) => setTimeout(resolve, 150));

export const big = 'x'.repeat(2400);

/** The conversation two turns later, over the trigger. */
export function grown(messages: readonly Message[]): Message[] {
  return goOn(goOn(messages, big), 'now');
}

/** Sends a conversation past the soft threshold. */
export async function sendNear(proxy: TestProxy, stub: UpstreamStub, name?: string): Promise<Message[]> {
  const messages = dialogue(4, SOFT + 100, name);
  await send(proxy, stub, messages);
  return messages;
}

/** A proxy that makes passes early. */
export async function preparing(engine: TestEngine, options: Partial<HostedOptions> = {}) {
  const stub = await countingStub();
  return { stub, proxy: await hosted({ stub, engine, compression: EARLY, ...options }) };
}

/** The same with a conversation past the soft threshold, whose engine has been called. */
export async function prepared(engine: TestEngine, options: Partial<HostedOptions> = {}) {
  const { stub, proxy } = await preparing(engine, options);
  const messages = await sendNear(proxy, stub);
  await until(() => engine.passes.length === 1);
  await quiet();
  return { stub, proxy, messages };
}
