import { afterEach } from 'vitest';
import { startProxy, type TestProxy, type TestProxyOptions } from '../../support/proxy.js';
import {
  json,
  type StubOptions,
  type StubRoute,
  sse,
  startStub,
  type UpstreamStub,
} from '../../support/upstream-stub.js';

export const COMPLETIONS = '/v1/completions';
export const RESPONSES = '/v1/responses';
export const MESSAGES = '/v1/messages';

export const answer: StubRoute = (request, response) =>
  request.body.includes('"stream":true')
    ? sse(response, [{ part: 1 }, { part: 2 }])
    : json(response, 200, { answered: true });

export interface Started {
  readonly stub: UpstreamStub;
  readonly proxy: TestProxy;
  post(path: string, body: string, headers?: Record<string, string>): Promise<Response>;
}

let started: Started | undefined;
afterEach(async () => {
  await started?.proxy.close();
  await started?.stub.close();
  started = undefined;
});

/** A stub that answers on every endpoint, and counts 3000 tokens whatever is asked; both end with the test. */
export async function start(
  options: StubOptions = {},
  flags: Record<string, string> = {},
  own: TestProxyOptions = {},
): Promise<Started> {
  const routes: Record<string, StubRoute> = {
    [`POST ${COMPLETIONS}`]: answer,
    [`POST ${RESPONSES}`]: answer,
    [`POST ${MESSAGES}`]: answer,
    [`POST ${MESSAGES}/count_tokens`]: (_request, response) => json(response, 200, { input_tokens: 3000 }),
    'GET /version': (_request, response) => json(response, 200, { version: '0.32.0' }),
  };
  const all = { ...routes, ...options.routes };
  const stub = await startStub({ window: 4096, count: 3000, ...options, routes: all });
  const proxy = await startProxy({ upstream: stub.url, ...flags }, own);
  const post: Started['post'] = (path, body, headers = {}) =>
    fetch(proxy.url + path, { method: 'POST', body, headers });
  started = { stub, proxy, post };
  await proxy.ready();
  return started;
}
