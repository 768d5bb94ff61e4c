import { afterEach } from 'vitest';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { json, type StubOptions, startStub, type UpstreamStub } from '../../support/upstream-stub.js';

export interface Pair {
  readonly stub: UpstreamStub;
  readonly proxy: TestProxy;
}

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Closes it when the test is over, the last opened first. */
export function closing<T extends { close(): Promise<void> }>(one: T): T {
  opened.push(() => one.close());
  return one;
}

/** A proxy with these flags in front of a stub with these options, both closed when the test is over. */
export async function startPair(
  options: StubOptions = {},
  flags: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<Pair> {
  const stub = closing(await startStub(options));
  const proxy = closing(await startProxy({ upstream: stub.url, ...flags }, { env }));
  return { stub, proxy };
}

/** Answers every request with 200 and what it was. */
export const ECHO: StubOptions = {
  routes: {
    '*': (request, response) => json(response, 200, { method: request.method, url: request.url }),
  },
};

/** A chat request's bytes. */
export function chatBody(more: Record<string, unknown> = {}): string {
  return JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], ...more });
}
