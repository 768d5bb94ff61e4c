import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Message } from '../../src/conversation/message.js';
import type { ConversationStore } from '../../src/store/conversation-store.js';
import type { TestEngine } from './engine.js';
import { postChat, startProxy, type TestProxy, type TestProxyOptions, told } from './proxy.js';
import { CHAT, type StubOptions, startStub, type UpstreamStub } from './upstream-stub.js';

/** With these defaults W is 3072 of 4096 tokens and R is 256: compression is due from P = 2817 on. */
export const LARGEST_THAT_FITS = 2816;

export interface HostedOptions {
  readonly engine: TestEngine;
  readonly stub: UpstreamStub;
  /** Default: a folder of its own. */
  readonly data?: string;
  /** Lines of the section `compression`; early passes are off unless said here. */
  readonly compression?: Record<string, unknown>;
  readonly flags?: Record<string, string>;
  readonly store?: ConversationStore;
  /** Further sections of the file. */
  readonly file?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly hostLimits?: TestProxyOptions['hostLimits'];
  readonly waitingTimes?: TestProxyOptions['waitingTimes'];
}

/** A proxy that drives an engine, on a real store. Ends with the test. */
export async function hosted(options: HostedOptions): Promise<TestProxy> {
  const { engine, stub, store, data = folder(), compression = {}, flags = {} } = options;
  const { hostLimits, waitingTimes, env } = options;
  const file = JSON.stringify({ compression: { prepare: 0, ...compression }, ...options.file });
  const asked = { upstream: stub.url, data, config: 'test.yaml', ...flags };
  const proxy = await startProxy(asked, {
    engine: engine.choice,
    file,
    store,
    hostLimits,
    waitingTimes,
    ...(env && { env }),
  });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  return proxy;
}

/** A folder that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'incontext-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A stub that counts four characters of the messages' JSON as one token. Ends with the test. */
export async function countingStub(options: StubOptions = {}): Promise<UpstreamStub> {
  const stub = await startStub({ count: (body) => tokensOf(body.messages), ...options });
  onTestFinished(() => stub.close());
  return stub;
}

export function tokensOf(messages: unknown): number {
  return Math.ceil(JSON.stringify(messages).length / 4);
}

export const SYSTEM: Message = { role: 'system', content: 'You help.' };

/** A dialogue of so many turns and tokens: the first question is as long as it takes. */
export function dialogue(turns: number, tokens: number, name = 'talk'): Message[] {
  const messages: Message[] = [SYSTEM];
  for (let turn = 1; turn <= turns; turn += 1) {
    messages.push({ role: 'user', content: `${name}: question ${turn}` });
    if (turn < turns) messages.push({ role: 'assistant', content: `${name}: answer ${turn}` });
  }
  const first = messages[1] as Message;
  const missing = tokens - tokensOf(messages);
  first.content = `${String(first.content)}${'x'.repeat(Math.max(0, missing * 4))}`;
  return messages;
}

/** The dialogue one turn later. */
export function goOn(messages: readonly Message[], question = 'And then?', answer = 'answer'): Message[] {
  return [...messages, { role: 'assistant', content: answer }, { role: 'user', content: question }];
}

export interface Sent {
  readonly status: number;
  /** The `x-incontext-*` headers. */
  readonly told: Record<string, string>;
  /** What went upstream. */
  readonly body: Buffer;
  readonly messages: Message[];
}

export interface SendOptions {
  readonly headers?: Record<string, string>;
  /** Further members of the body. */
  readonly more?: Record<string, unknown>;
}

/** Sends messages through a proxy and waits for the answer. One request at a time. */
export async function send(
  proxy: TestProxy,
  stub: UpstreamStub,
  messages: readonly Message[] | string,
  { headers, more = {} }: SendOptions = {},
): Promise<Sent> {
  const text = typeof messages === 'string' ? messages : JSON.stringify(messages);
  const rest = JSON.stringify({ model: 'm', max_tokens: 1000, ...more }).slice(1);
  const response = await postChat(proxy.url, `{"messages":${text},${rest}`, headers);
  await response.arrayBuffer();
  return { status: response.status, told: told(response), ...lastSent(stub) };
}

/** The last request that reached the chat endpoint. */
export function lastSent(stub: UpstreamStub): Pick<Sent, 'body' | 'messages'> {
  const body = stub.at(CHAT).at(-1)?.body ?? Buffer.alloc(0);
  return { body, messages: JSON.parse(body.toString()).messages as Message[] };
}

/** The raw text of the messages in a body of `send`. */
export function messagesText(body: Buffer): string {
  const text = body.toString();
  return text.slice('{"messages":['.length, text.lastIndexOf('],"model"'));
}

export async function until(isSo: () => boolean, ms = 5000): Promise<void> {
  const end = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come so far');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
