import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { type ClientCall, send, until } from './support/client.js';
import { chatBody, ECHO, startPair } from './support/pair.js';

/** The names that dashboards rely on. */
const NAMES = [
  'incontext_decisions_total',
  'incontext_prompt_tokens_bucket',
  'incontext_cap_tokens_bucket',
  'incontext_count_drift_tokens_bucket',
  'incontext_tokenizer_seconds_bucket',
  'incontext_tokenizer_failures_total',
  'incontext_tokenizer_cache_total',
  'incontext_overhead_seconds_bucket',
  'incontext_in_flight',
  'incontext_aborts_total',
  'incontext_event_loop_delay_seconds',
];

const LOG_FIELDS = new Set([
  ...[
    'level',
    'time',
    'msg',
    'route',
    'method',
    'action',
    'reason',
    'source',
    'model',
    'prompt_tokens',
    'window',
  ],
  ...['max_tokens', 'status', 'outcome', 'cause', 'ms', 'code', 'type', 'reachable'],
]);

async function metricsOf(url: string): Promise<string> {
  const answer = await send(url, { path: '/incontext/metrics' });
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  return answer.body.toString();
}

test('has every metric of the interface', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  await proxy.ready();
  await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ max_tokens: 2000 }) });
  await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ max_tokens: 2000 }) });
  stub.set({ routes: { 'POST /tokenize': (_request, response) => response.writeHead(500).end() } });
  await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ messages: [], max_tokens: 300 }) });
  stub.set({ routes: { '*': (_request, response) => response.destroy() } });
  await send(proxy.url, { path: '/v1/x' });
  const text = await metricsOf(proxy.url);
  for (const name of NAMES) expect(text).toMatch(new RegExp(`^${name}[{ ]`, 'm'));
  expect(text).toContain('incontext_decisions_total{action="clamped",reason="cap_lowered"} 2');
  expect(text).toContain('incontext_tokenizer_cache_total{result="miss"} 2');
  expect(text).toContain('incontext_tokenizer_cache_total{result="hit"} 1');
  expect(text).toMatch(/incontext_tokenizer_failures_total\{reason="[a-z_]+"\} 1/);
  expect(text).toContain('incontext_aborts_total{side="upstream"} 1');
  expect(text).toMatch(/incontext_event_loop_delay_seconds\{quantile="0\.99"\}/);
  expect(text).toContain('incontext_cap_tokens_sum{stage="asked"} 4300');
  expect(text).toContain('incontext_cap_tokens_sum{stage="sent"} 2492');
});

test('takes no metric label from a request', async () => {
  const { proxy } = await startPair({ count: 3000 });
  const before = labelsOf(await metricsOf(proxy.url));
  for (let i = 0; i < 5; i += 1) {
    const body = chatBody({ model: `secret-${i}`, user: 'secret', max_tokens: 2000 });
    await send(proxy.url, {
      method: 'POST',
      path: `${CHAT}?secret=${i}`,
      headers: { 'x-secret': 's' },
      body,
    });
    await send(proxy.url, { method: 'POST', path: `/secret/${i}` });
  }
  const text = await metricsOf(proxy.url);
  expect(text).not.toContain('secret');
  const added = [...labelsOf(text)].filter((label) => !before.has(label));
  expect(added.filter((label) => /^(action|reason)=/.test(label))).toEqual([
    'action="clamped"',
    'reason="cap_lowered"',
  ]);
});

test('counts an intercepted request that passes unread by its reason', async () => {
  const { proxy } = await startPair({ ...ECHO }, { 'body-limit': '1000' });
  const calls: Omit<ClientCall, 'path'>[] = [
    { headers: { 'x-incontext-bypass': '1' }, body: chatBody() },
    { headers: { 'content-encoding': 'br' }, body: chatBody() },
    { body: chatBody({ pad: 'x'.repeat(2000) }) },
  ];
  for (const call of calls) await send(proxy.url, { method: 'POST', path: CHAT, ...call });
  const text = await metricsOf(proxy.url);
  for (const labels of [
    'action="bypassed",reason="bypass"',
    'action="unchanged",reason="encoded_body"',
    'action="unchanged",reason="body_too_large"',
  ]) {
    expect(text).toContain(`incontext_decisions_total{${labels}} 1`);
  }
});

test('writes one log line a request, with counts and codes only', async () => {
  const { stub, proxy } = await startPair({ count: 3000 }, {}, { INCONTEXT_API_KEYS: 'secret-key' });
  await proxy.ready();
  const headers = { authorization: 'Bearer secret-key', cookie: 'secret=1' };
  const body = chatBody({ max_tokens: 2000, user: 'secret' });
  const calls = [
    { method: 'POST', path: `${CHAT}?secret=1`, headers, body },
    { method: 'POST', path: CHAT, headers: { ...headers, 'x-incontext-bypass': '1' }, body },
    { method: 'GET', path: '/v1/secret', headers },
    { method: 'PROPFIND', path: '/a/../secret', headers },
    { method: 'GET', path: '/v1/secret' },
  ];
  for (const call of calls) await send(proxy.url, call);
  await stub.close();
  await send(proxy.url, { path: '/v1/secret', headers });
  const lines = () => proxy.logged.filter((line) => line.msg === 'exchange');
  await until(() => lines().length >= 6);
  expect(lines()).toMatchObject([
    {
      route: 'chat_completions',
      action: 'clamped',
      reason: 'cap_lowered',
      model: 'm',
      prompt_tokens: 3000,
      status: 200,
    },
    { route: 'chat_completions', action: 'bypassed', reason: 'bypass', source: 'none', status: 400 },
    { route: 'pass', method: 'GET', status: 404, outcome: 'complete' },
    { route: 'pass', method: 'PROPFIND', status: 404, outcome: 'complete' },
    { route: 'refused', method: 'GET', status: 401, code: 'invalid_api_key' },
    { route: 'pass', method: 'GET', status: 502, outcome: 'upstream_error', cause: 'ECONNREFUSED' },
  ]);
  expect(lines()).toHaveLength(6);
  for (const line of proxy.logged)
    expect(Object.keys(line).filter((name) => !LOG_FIELDS.has(name))).toEqual([]);
  const all = JSON.stringify(proxy.logged);
  expect(all).not.toContain('secret');
  expect(all).not.toContain(String(stub.port));
  expect(all).not.toContain('127.0.0.1');
});

function labelsOf(metrics: string): Set<string> {
  return new Set(metrics.match(/[a-z]+="[^"]*"/g) ?? []);
}
