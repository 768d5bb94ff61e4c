import { afterAll, beforeAll, expect, test } from 'vitest';
import { postChat, startProxy, type TestProxy } from '../support/proxy.js';
import { CHAT, json, startStub, type UpstreamStub } from '../support/upstream-stub.js';

const SECRETS = {
  prompt: 'marked-prompt',
  key: 'marked-client-key',
  cookie: 'marked-cookie',
  upstreamKey: 'marked-upstream-key',
  tool: 'marked-tool',
  model: 'marked-model',
  query: 'marked-query',
  upstreamError: 'marked-upstream-error',
  uid: 'marked-uid',
};

let stub: UpstreamStub;
let proxy: TestProxy;
let seen = '';
let round = 0;

/** Everything that the proxy writes itself: log, metrics, status, explanations, answer headers, own errors. */
beforeAll(async () => {
  stub = await startStub({ count: 3000 });
  proxy = await startProxy({
    upstream: stub.url,
    'upstream-api-key': SECRETS.upstreamKey,
    'tokenizer-timeout-seconds': '0.2',
  });
  await proxy.ready();
  await everyWay();
  stub.set({
    routes: {
      'POST /tokenize': (_request, response) => json(response, 500, { error: SECRETS.upstreamError }),
    },
  });
  await everyWay();
  stub.set({
    routes: { 'POST /tokenize': (_request, response) => response.destroy(new Error(SECRETS.upstreamError)) },
  });
  await everyWay();
  stub.set({
    routes: {
      [`POST ${CHAT}`]: (_request, response) =>
        json(response, 400, { error: { message: `maximum context length ${SECRETS.upstreamError}` } }),
    },
  });
  await everyWay();
  stub.set({ routes: { '*': (_request, response) => response.destroy() } });
  await everyWay();
  await stub.close();
  await everyWay();
  for (const path of ['status', 'metrics', 'ready', 'live', SECRETS.query]) {
    seen += await (await fetch(`${proxy.url}/incontext/${path}`)).text();
  }
  seen += JSON.stringify(proxy.logged);
});

afterAll(async () => {
  await proxy.close();
});

async function everyWay(): Promise<void> {
  round += 1;
  const secret = { authorization: `Bearer ${SECRETS.key}`, cookie: SECRETS.cookie };
  const bodies = [
    { model: 'm', max_tokens: 9999 },
    {
      model: SECRETS.model,
      max_tokens: 9999,
      tools: [{ type: 'function', function: { name: SECRETS.tool } }],
    },
    { model: 'm', stream: true },
  ].map((more) =>
    JSON.stringify({
      ...more,
      messages: [{ role: 'user', content: `${SECRETS.prompt} ${round}`, message_uid: SECRETS.uid }],
    }),
  );
  for (const body of [...bodies, `{"broken ${SECRETS.prompt}`]) {
    await note(await postChat(proxy.url, body, secret));
    seen += await (await fetch(`${proxy.url}/incontext/explain`, { method: 'POST', body })).text();
  }
  await note(await fetch(`${proxy.url}/v1/${SECRETS.query}?k=${SECRETS.query}`, { headers: secret }));
}

async function note(response: Response): Promise<void> {
  seen += JSON.stringify([...response.headers].filter(([name]) => name.startsWith('x-incontext')));
  const body = await response.text();
  if (response.status >= 502) seen += body;
}

test('the run was seen: decisions, failures and errors are there to search', () => {
  for (const mark of [
    'cap_lowered',
    'rough-fallback',
    'upstream_reset',
    'upstream_unreachable',
    'exact count failed',
  ]) {
    expect(seen).toContain(mark);
  }
});

test.each(Object.entries(SECRETS).filter(([what]) => what !== 'model'))(
  'nothing that the proxy writes itself holds a %s',
  (_what, secret) => {
    expect(seen).not.toContain(secret);
  },
);

test("a model's name that only a request gave is in no log line and no metric label", async () => {
  expect(JSON.stringify(proxy.logged)).not.toContain(SECRETS.model);
  expect(await (await fetch(`${proxy.url}/incontext/metrics`)).text()).not.toContain(SECRETS.model);
});

test("the upstream's address is in no log line, metric, header or error", () => {
  expect(seen).not.toContain(String(stub.port));
  expect(seen).not.toContain('127.0.0.1');
});
