import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { chat, post, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator();
});
afterAll(() => server.close());

test('bytes that are no UTF-8 are kept', async () => {
  await server.clearRequests();
  const body = Buffer.from([0x7b, 0xff, 0x7d]);
  await fetch(`${server.url}/tokenize`, { method: 'POST', body });
  await post(`${server.url}/tokenize`, { prompt: 'ü' });
  const [first, second] = await server.requests();
  expect(first?.body_base64).toBe(body.toString('base64'));
  expect(second).not.toHaveProperty('body_base64');
});

test('each entry says how its answer ended, and when', async () => {
  await server.clearRequests();
  await chat(server.url, { messages: said('!sim {"text": "a", "delay_ms": 30}') });
  const leave = new AbortController();
  const hanging = post(
    `${server.url}/v1/chat/completions`,
    { messages: said('!sim {"hang": true}') },
    { signal: leave.signal },
  ).catch(() => undefined);
  await expect.poll(async () => (await server.requests()).length).toBe(2);
  expect((await server.requests())[1]).not.toHaveProperty('outcome');
  leave.abort();
  await hanging;
  const outcomes = async () => (await server.requests()).map(({ outcome }) => outcome);
  await expect.poll(outcomes).toEqual(['complete', 'aborted']);
  expect((await server.requests())[0]?.ms).toBeGreaterThanOrEqual(29);
});

test('with a certificate it serves HTTPS', async () => {
  const read = (name: string): string =>
    readFileSync(new URL(`../upstream/fixtures/${name}`, import.meta.url), 'utf8');
  const secure = await simulator({ tls: { cert: read('own-cert.pem'), key: read('own-key.pem') } });
  expect(secure.url).toMatch(/^https:/);
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${secure.url}/health`, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
  expect(status).toBe(200);
  await secure.close();
});
