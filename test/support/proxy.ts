import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { BackendFactory } from '../../src/backends/contract.js';
import type { AssembleOptions } from '../../src/server/assemble.js';
import type { EngineChoice } from '../../src/server/choose-engine.js';
import { createProxy, type RunningProxy } from '../../src/server/create-proxy.js';
import type { ConversationStore } from '../../src/store/conversation-store.js';
import { settingsOf, type TestSettings } from './settings.js';

export interface TestProxy extends RunningProxy {
  /** Every log line so far, parsed. */
  readonly logged: Record<string, unknown>[];
  /** Resolves once the upstream was asked for its models and answered. */
  ready(): Promise<void>;
}

export interface TestProxyOptions extends TestSettings {
  readonly backend?: BackendFactory | undefined;
  /** In place of what `--engine` names. */
  readonly engine?: EngineChoice | undefined;
  readonly store?: ConversationStore | undefined;
  readonly hostLimits?: AssembleOptions['hostLimits'];
  readonly waitingTimes?: AssembleOptions['waitingTimes'];
}

/** Starts a proxy on a free port with these flags, `--engine none --min-output-tokens 256 --fallback-margin-tokens 64` unless said otherwise. */
export async function startProxy(
  flags: Record<string, string>,
  options: TestProxyOptions = {},
): Promise<TestProxy> {
  const defaults = { port: '0', engine: 'none', 'min-output-tokens': '256', 'fallback-margin-tokens': '64' };
  const settings = settingsOf({ ...defaults, ...flags }, options);
  const logged: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  const log = pino({ level: 'trace', base: null }, sink);
  const { backend, engine, store, hostLimits, waitingTimes } = options;
  const proxy = await createProxy({ settings, backend, engine, store, hostLimits, waitingTimes, log });
  return { ...proxy, logged, ready: () => untilReady(proxy.url) };
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const { status } = await fetch(`${url}/incontext/ready`);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the proxy did not become ready');
}

/** The `x-incontext-*` headers of an answer, without their prefix. */
export function told(response: Response): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of response.headers) {
    if (name.startsWith('x-incontext-')) out[name.slice('x-incontext-'.length)] = value;
  }
  return out;
}

/** Posts a body to the chat endpoint, as it stands. */
export function postChat(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    ...init,
  });
}
