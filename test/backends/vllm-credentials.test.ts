import { expect, test } from 'vitest';
import { callOf, contextFor, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, json, listen } from './support/tokenizer-stub.js';

const CLIENT = 'Bearer client-key';

async function seen(tokenizer: { elsewhere: boolean; apiKey?: string; userAgent?: string; path?: string }) {
  const upstream = await listen((response) => counted(response, 5));
  const other = await listen((response) => counted(response, 5));
  const url = tokenizer.elsewhere
    ? `${other.url}/tokenize`
    : tokenizer.path && `${upstream.url}${tokenizer.path}`;
  const context = contextFor(upstream.url, { ...tokenizer, url: url || undefined });
  await vllm(context).count(requestOf(HELLO), callOf({ credential: CLIENT }));
  const [arrived, ...more] = [...upstream.arrived, ...other.arrived];
  expect(more).toHaveLength(0);
  expect(tokenizer.elsewhere ? other.arrived : upstream.arrived).toHaveLength(1);
  if (arrived === undefined) throw new Error('nothing arrived');
  return arrived;
}

test('the upstream, which gets the credential anyway, gets it with the count too', async () => {
  expect((await seen({ elsewhere: false })).headers.authorization).toBe(CLIENT);
  const arrived = await seen({ elsewhere: false, path: '/other/tokenize?x=1' });
  expect(arrived.headers.authorization).toBe(CLIENT);
  expect(arrived.path).toBe('/other/tokenize?x=1');
});

test('a tokenizer elsewhere never sees the client credential (bug case 24, BerriAI/litellm#32202)', async () => {
  expect((await seen({ elsewhere: true })).headers).not.toHaveProperty('authorization');
});

test('a configured key is sent wherever the tokenizer is, and wins', async () => {
  for (const elsewhere of [true, false]) {
    expect((await seen({ elsewhere, apiKey: 'k' })).headers.authorization).toBe('Bearer k');
  }
});

test('nothing but what a count needs is sent: no cookie, no forwarding header, no encoding asked for', async () => {
  const { headers } = await seen({ elsewhere: false });
  expect(Object.keys(headers).sort()).toEqual([
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ]);
  expect(headers['accept-encoding']).toBe('identity');
  expect(headers['user-agent']).toMatch(/^incontext-proxy\/\d+\.\d+\.\d+/);
});

test('the user agent can be configured', async () => {
  expect((await seen({ elsewhere: true, userAgent: 'mine/1' })).headers['user-agent']).toBe('mine/1');
});

test('a model can have a tokenizer of its own, which gets no credential of the upstream', async () => {
  const upstream = await listen((response) => counted(response, 1));
  const special = await listen((response) => counted(response, 2));
  const backend = vllm(contextFor(upstream.url, { urlByModel: new Map([['b', `${special.url}/t`]]) }));
  const countOf = async (model: unknown) => {
    const call = callOf({ credential: CLIENT });
    return (await backend.count(requestOf({ ...HELLO, model }), call)).tokens;
  };
  expect(await countOf('a')).toBe(1);
  expect(await countOf('b')).toBe(2);
  expect(await countOf(5)).toBe(1);
  expect(special.arrived[0]?.path).toBe('/t');
  expect(special.arrived[0]?.headers).not.toHaveProperty('authorization');
});

test('a path in front of the upstream stays in front of tokenize and models', async () => {
  const stub = await listen((response, { path }) => {
    if (path === '/prefix/tokenize') counted(response, 5);
    else json(response, { data: [{ id: 'm', max_model_len: 7 }] });
  });
  const backend = vllm(contextFor(`${stub.url}/prefix`));
  await backend.count(requestOf(HELLO), callOf());
  expect(await backend.describe('m', callOf())).toBe(7);
  expect(stub.arrived.map(({ path }) => path)).toEqual(['/prefix/tokenize', '/prefix/v1/models']);
});

test('the list of models is asked for with the credential of the call, never with another tokenizer’s key', async () => {
  const stub = await listen((response) => json(response, { data: [] }));
  const elsewhere = { url: 'http://127.0.0.1:9/tokenize', apiKey: 'k' };
  await vllm(contextFor(stub.url, elsewhere)).describe('m', callOf({ credential: CLIENT }));
  await vllm(contextFor(stub.url, elsewhere)).describe('m', callOf());
  await vllm(contextFor(stub.url, { apiKey: 'k' })).describe('m', callOf());
  expect(stub.arrived.map(({ headers }) => headers.authorization)).toEqual([CLIENT, undefined, 'Bearer k']);
});
