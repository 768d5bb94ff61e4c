import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, listen } from './support/tokenizer-stub.js';

test('a tokenizer that is down is unreachable', async () => {
  const stub = await listen(() => {});
  await stub.close();
  expect(await failureOf(vllm(contextFor(stub.url)).count(requestOf(HELLO), callOf()))).toEqual(
    failed('unreachable'),
  );
});

test('a server that does not speak HTTP is unreachable', async () => {
  const server = createServer((socket) => socket.resume().end('SSH-2.0-OpenSSH\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await failureOf(vllm(contextFor(url)).count(requestOf(HELLO), callOf()))).toEqual(
    failed('unreachable'),
  );
  await new Promise((resolve) => server.close(resolve));
});

test('a tokenizer that never answers costs the timeout, and its socket is closed (vllm-project/vllm#26134)', async () => {
  const stub = await listen(() => {});
  const start = performance.now();
  const count = vllm(contextFor(stub.url, { timeoutSeconds: 0.2 })).count(requestOf(HELLO), callOf());
  expect(await failureOf(count)).toEqual(failed('timeout'));
  expect(performance.now() - start).toBeLessThan(1_500);
  await stub.arrived[0]?.closed;
});

test('the timeout holds for the whole answer, not for each piece of it', async () => {
  const stub = await listen((response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  });
  const count = vllm(contextFor(stub.url, { timeoutSeconds: 0.3 })).count(requestOf(HELLO), callOf());
  expect(await failureOf(count)).toEqual(failed('timeout'));
  await stub.arrived[0]?.closed;
});

test('an abort stops the count, before and during the answer', async () => {
  for (const begun of [false, true]) {
    const stub = await listen((response) => {
      if (begun) response.write('{"count":');
    });
    const client = new AbortController();
    const backend = vllm(contextFor(stub.url));
    const count = backend.count(requestOf(HELLO), callOf({ signal: client.signal }));
    await stub.arrivals(1);
    client.abort(new Error('the client left'));
    await expect(count).rejects.toThrow('the client left');
    await stub.arrived[0]?.closed;
    expect(backend.health?.()).toEqual({ state: 'closed', calls: 1, failures: 0 });
  }
});

test('an abort before the socket is connected sends nothing', async () => {
  const stub = await listen((response) => counted(response, 5));
  const backend = vllm(contextFor(stub.url));
  const client = new AbortController();
  const count = backend.count(requestOf(HELLO), callOf({ signal: client.signal }));
  client.abort(new Error('left'));
  await expect(count).rejects.toThrow('left');
  for (const model of ['a', 'b']) await backend.count(requestOf({ ...HELLO, model }), callOf());
  expect(stub.arrived.map(({ body }) => JSON.parse(body).model)).toEqual(['a', 'b']);
});

test('an exchange that is over already is not counted', async () => {
  const stub = await listen((response) => counted(response, 5));
  const backend = vllm(contextFor(stub.url));
  const signal = AbortSignal.abort(new Error('gone'));
  await expect(backend.count(requestOf(HELLO), callOf({ signal }))).rejects.toThrow('gone');
  await expect(backend.count(requestOf(HELLO), callOf({ signal, fresh: true }))).rejects.toThrow('gone');
  expect(stub.arrived).toHaveLength(0);
});

test('a re-used socket that the server closes costs one more call, a new one none (nodejs/undici#583)', async () => {
  const perSocket = new Map<Socket, number>();
  const server = createServer((socket) => {
    socket.on('data', () => {
      const nth = (perSocket.get(socket) ?? 0) + 1;
      perSocket.set(socket, nth);
      if (nth > 1) return socket.destroy();
      const body = '{"count":5,"max_model_len":65536}';
      return socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const backend = vllm(contextFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  for (const content of ['a', 'b', 'c']) {
    const count = backend.count(requestOf({ messages: [{ role: 'user', content }] }), callOf());
    expect(await count).toMatchObject({ tokens: 5 });
  }
  expect(perSocket.size).toBe(3);
  await backend.close?.();
  await new Promise((resolve) => server.close(resolve));
});

test('a server that closes every socket is asked once', async () => {
  const stub = await listen((response) => response.destroy());
  const backend = vllm(contextFor(stub.url));
  expect(await failureOf(backend.count(requestOf(HELLO), callOf()))).toEqual(failed('unreachable'));
  expect(stub.arrived).toHaveLength(1);
});

test('a credential that no header can carry is a failed count', async () => {
  const stub = await listen((response) => counted(response, 5));
  const call = callOf({ credential: 'Bearer a\nb' });
  expect(await failureOf(vllm(contextFor(stub.url)).count(requestOf(HELLO), call))).toEqual(
    failed('unreachable'),
  );
  expect(stub.arrived).toHaveLength(0);
});

test('close ends what is in flight', async () => {
  const stub = await listen(() => {});
  const backend = vllm(contextFor(stub.url));
  const failure = failureOf(backend.count(requestOf(HELLO), callOf()));
  await stub.arrivals(1);
  await backend.close?.();
  expect(await failure).toEqual(failed('unreachable'));
  await stub.arrived[0]?.closed;
});

test('proxy variables of the environment are not used', async () => {
  const elsewhere = await listen((response) => counted(response, 1));
  const stub = await listen((response) => counted(response, 5));
  const names = ['http_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'] as const;
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : elsewhere.url;
  try {
    expect(await vllm(contextFor(stub.url)).count(requestOf(HELLO), callOf())).toMatchObject({ tokens: 5 });
  } finally {
    for (const [i, name] of names.entries()) {
      if (before[i] === undefined) delete process.env[name];
      else process.env[name] = before[i];
    }
  }
  expect(elsewhere.arrived).toHaveLength(0);
});
