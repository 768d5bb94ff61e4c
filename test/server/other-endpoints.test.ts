import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startProxy, type TestProxy, told } from '../support/proxy.js';
import { json, sse, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy;

beforeAll(async () => {
  stub = await startStub({
    routes: {
      '*': (request, response) =>
        request.body.includes('"stream":true')
          ? sse(response, [{ usage: null }, { error: { message: 'mid-stream', code: 500 } }])
          : json(response, 200, { usage: null, output_tokens: 9007199254740991 }),
    },
  });
  proxy = await startProxy({ upstream: stub.url });
});

beforeEach(() => {
  stub.received.length = 0;
});

afterAll(async () => {
  await proxy.close();
  await stub.close();
});

const BODIES = {
  // vllm-project/vllm#58028 lists it among the server's routes.
  '/v1/messages/count_tokens': '{"model":"m","messages":[{"role":"user","content":"q"}]}',
  '/v1/responses/r1/cancel': '{}',
  '/completions': '{"model":"m","prompt":[[1,2],[3]],"max_tokens":999999}',
  '/v1/embeddings': '{"model":"m","input":["a"]}',
};

test.each(Object.entries(BODIES))('passes %s untouched and uncounted', async (path, body) => {
  const response = await fetch(proxy.url + path, { method: 'POST', body });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('{"usage":null,"output_tokens":9007199254740991}');
  expect(stub.only(path).body.toString()).toBe(body);
  expect(stub.at('/tokenize')).toHaveLength(0);
  expect(told(response)).toEqual({});
});

test('passes a stream whose usage is null and whose error comes in the middle', async () => {
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}],"max_tokens":50}';
  const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body });
  expect(await response.text()).toContain(
    'data: {"error":{"message":"mid-stream","code":500}}\n\ndata: [DONE]',
  );
  expect((await fetch(`${proxy.url}/incontext/metrics`)).status).toBe(200);
});
