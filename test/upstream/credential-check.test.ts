import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WAITING_TIMES } from '../../src/stream/waiting-client.js';
import { createUpstreamAgent } from '../../src/upstream/agent.js';
import { CREDENTIAL_KEPT_MS, CredentialCheck } from '../../src/upstream/credential-check.js';
import { Forwarder } from '../../src/upstream/forwarder.js';
import { settingsOf } from '../support/settings.js';
import { json, startStub } from '../support/upstream-stub.js';

test('a waiting client hears of it after 2 s and every 10 s, and its credential is good for 60 s', () => {
  expect(WAITING_TIMES).toEqual({ graceMs: 2000, everyMs: 10_000 });
  expect(CREDENTIAL_KEPT_MS).toBe(60_000);
});

/** An upstream whose models answer with this status, and a check there. */
async function checking(status: number, keptMs?: number) {
  const stub = await startStub({
    routes: { 'GET /v1/models': (_request, response) => json(response, status, { data: [] }) },
  });
  const { upstream } = settingsOf({ upstream: stub.url });
  const forwarder = new Forwarder(() => createUpstreamAgent(upstream), upstream.url);
  onTestFinished(async () => {
    await forwarder.close();
    await stub.close();
  });
  return { check: new CredentialCheck(forwarder, keptMs), stub };
}

test('a credential that was accepted is not asked about again, one that was refused is', async () => {
  for (const [status, accepted, asked] of [
    [200, true, 1],
    [500, true, 1],
    [401, false, 2],
    [403, false, 2],
  ] as const) {
    const { check, stub } = await checking(status);
    expect(await check.areAccepted('Bearer one')).toBe(accepted);
    expect(await check.areAccepted('Bearer one')).toBe(accepted);
    expect(stub.at('/v1/models')).toHaveLength(asked);
    await check.areAccepted('Bearer other');
    expect(stub.at('/v1/models')).toHaveLength(asked + 1);
  }
});

test('it is asked about again when its time is over', async () => {
  const { check, stub } = await checking(200, 50);
  await check.areAccepted('Bearer one');
  await sleep(100);
  stub.set({ routes: { 'GET /v1/models': (_request, response) => json(response, 401, {}) } });
  expect(await check.areAccepted('Bearer one')).toBe(false);
  expect(stub.at('/v1/models')).toHaveLength(2);
});
