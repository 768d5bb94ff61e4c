import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { startStub } from '../support/upstream-stub.js';
import { send } from './support/client.js';
import { closing } from './support/pair.js';

test('rejects where its address is taken', async () => {
  const stub = closing(await startStub());
  const port = String(stub.port);
  await expect(startProxy({ upstream: stub.url, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('serves each request once at a name with several addresses', async () => {
  const stub = closing(
    await startStub({ routes: { 'GET /v1/x': (_request, response) => response.end('x') } }),
  );
  const proxy = closing(await startProxy({ upstream: stub.url, host: 'localhost' }));
  expect(proxy.url).toMatch(/^http:\/\/localhost:\d+$/);
  expect((await send(proxy.url, { path: '/v1/x' })).body.toString()).toBe('x');
  expect(stub.at('/v1/x')).toHaveLength(1);
});

test('can be closed twice', async () => {
  const stub = closing(await startStub());
  const proxy = closing(await startProxy({ upstream: stub.url }));
  await Promise.all([proxy.close(), proxy.close()]);
});
