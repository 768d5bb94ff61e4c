import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
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

test('loads no compilers of schemas, which no route has', () => {
  const program = `
    import { createRequire } from 'node:module';
    import { createProxy, loadSettings } from ${JSON.stringify(resolve('dist/index.js'))};
    const flags = { upstream: 'http://127.0.0.1:9', port: '0', engine: 'none', 'log-level': 'silent' };
    const { settings } = loadSettings({ flags, env: {}, readFile: () => '', cwd: '.' });
    const proxy = await createProxy({ settings });
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(['fastify', 'ajv'].map((name) => loaded.some((path) => path.includes('node_modules/' + name + '/'))));
    await proxy.close();
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout.toString().trim()).toBe('[ true, false ]');
});
