import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COUNT_FAILURES } from '../../src/backends/contract.js';
import { createMetrics } from '../../src/observe/metrics.js';
import { type OwnErrorCode, ownError } from '../../src/stream/own-error.js';
import { postChat, startProxy, type TestProxy } from '../support/proxy.js';
import { json, startStub, type UpstreamStub } from '../support/upstream-stub.js';
import { ROOT, readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/operations.md');

/** The first cells of a table's rows that have as many columns. */
function named(heading: string, columns: number): string[] {
  const rows = tableRows(page, heading).filter((cells) => cells.length === columns);
  return rows.flatMap(([first = '']) => first.split(', '));
}

test('lists every metric with its type and labels', () => {
  const metrics = createMetrics();
  metrics.close();
  const existing = metrics.registry.getMetricsAsArray().map((metric) => {
    const { labelNames = [] } = metric as { labelNames?: string[] };
    return [metric.name, metric.type, labelNames.join(', ')];
  });
  const listed = tableRows(page, 'Metrics').filter((cells) => cells.length === 4);
  expect(listed.map((cells) => cells.slice(0, 3)).toSorted()).toEqual(existing.toSorted());
});

test('lists every way in which a count can fail', () => {
  expect(named('Metrics', 2).toSorted()).toEqual([...COUNT_FAILURES].toSorted());
});

test('lists every error of the proxy with its status', () => {
  const source = readFileSync(join(ROOT, 'src/stream/own-error.ts'), 'utf8');
  const existing = [...source.matchAll(/^ {2}(\w+): \{$/gm)].map(([, code]) => code as OwnErrorCode);
  expect(existing.length).toBeGreaterThan(5);
  const listed = tableRows(page, 'Errors of the proxy').map(([code, status]) => [code, status]);
  expect(listed).toEqual(existing.map((code) => [code, String(ownError(code).status)]));
});

describe('with a proxy that has seen good and bad', () => {
  let stub: UpstreamStub;
  let proxy: TestProxy;
  const fields = () => new Set(proxy.logged.flatMap((line) => Object.keys(line)));

  beforeAll(async () => {
    stub = await startStub({ count: 3000 });
    const env = { INCONTEXT_API_KEYS: 'key-one' };
    proxy = await startProxy({ upstream: stub.url }, { env });
    await proxy.ready();
    const headers = { authorization: 'Bearer key-one' };
    const chat = JSON.stringify({ messages: [], max_tokens: 9999 });
    await (await postChat(proxy.url, chat, headers)).text();
    await postChat(proxy.url, chat);
    const usage = { prompt_tokens: 3001, completion_tokens: 1, total_tokens: 3002 };
    stub.set({
      routes: { 'POST /v1/chat/completions': (_request, response) => json(response, 200, { usage }) },
    });
    await (await postChat(proxy.url, chat, headers)).text();
    stub.set({ routes: { 'POST /tokenize': (_request, response) => response.destroy() } });
    await (await postChat(proxy.url, JSON.stringify({ messages: [{}] }), headers)).text();
    await fetch(`${proxy.url}/v1/models`, { headers });
    await stub.close();
    await postChat(proxy.url, chat, headers);
  });
  afterAll(() => proxy.close());

  test('names every field that is logged', () => {
    const listed = named('Logs', 2);
    // pino's own line layout: the test's log has no ISO time and no label for the level.
    expect([...fields()].filter((field) => !listed.includes(field))).toEqual([]);
    for (const field of ['cause', 'code', 'type', 'reachable', 'max_tokens'])
      expect(fields()).toContain(field);
  });

  test('names no field that is never logged', () => {
    expect(named('Logs', 2).filter((field) => !fields().has(field))).toEqual([]);
  });

  test('names every field of the status', async () => {
    const headers = { authorization: 'Bearer key-one' };
    const status = (await (await fetch(`${proxy.url}/incontext/status`, { headers })).json()) as object;
    expect(named('Status', 2)).toEqual(Object.keys(status));
  });

  test('names every endpoint of the proxy, and they answer', async () => {
    const headers = { authorization: 'Bearer key-one' };
    const endpoints = named('Health', 2).map((each) => each.split(' ') as [string, string]);
    expect(endpoints).toHaveLength(5);
    for (const [method, path] of endpoints) {
      const { status } = await fetch(proxy.url + path, { method, headers });
      expect([200, 503]).toContain(status);
    }
  });
});
