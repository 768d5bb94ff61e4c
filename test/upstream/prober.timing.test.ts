import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '../server/support/client.js';
import { closing } from '../server/support/pair.js';
import { startProxy } from '../support/proxy.js';
import { startStub } from '../support/upstream-stub.js';

test('asks an upstream that is not there again at growing distances of at most 5 s', async () => {
  const at: number[] = [];
  const dead = createServer((socket) => {
    at.push(performance.now());
    socket.destroy();
  });
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  closing({ close: async () => void dead.close() });
  const { port } = dead.address() as AddressInfo;
  closing(await startProxy({ upstream: `http://127.0.0.1:${port}` }));
  await until(() => at.length >= 5, 15_000);
  const gaps = at.slice(1, 5).map((time, i) => time - (at[i] as number));
  for (const gap of gaps) expect(gap).toBeGreaterThan(200);
  for (const gap of gaps) expect(gap).toBeLessThan(6000);
  expect(gaps[3]).toBeGreaterThan((gaps[0] as number) * 2);
}, 20_000);

test('goes on asking an upstream that answers, and adopts a new length', async () => {
  const stub = closing(await startStub({ window: 4096 }));
  const proxy = closing(await startProxy({ upstream: stub.url }));
  await proxy.ready();
  stub.set({ window: 8192 });
  const lengths = async () => {
    const answer = await fetch(`${proxy.url}/incontext/status`);
    const { models } = (await answer.json()) as { models: { context_length: number }[] };
    return models.map((model) => model.context_length);
  };
  expect(await lengths()).toEqual([4096]);
  await until(() => stub.at('/v1/models').length >= 2, 15_000);
  await until(() => stub.received.length >= 2);
  let last = await lengths();
  for (let i = 0; i < 100 && last[0] !== 8192; i += 1) last = await lengths();
  expect(last).toEqual([8192]);
  expect(stub.received.every(({ method, url }) => `${method} ${url}` === 'GET /v1/models')).toBe(true);
}, 20_000);
