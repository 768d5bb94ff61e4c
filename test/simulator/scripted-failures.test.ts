import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { chat, chatEvents, chunksOf, eventsOf, post, said } from './ask.js';
import { rawExchange } from './raw-exchange.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator();
});
afterAll(() => server.close());

function scripted(script: object): { messages: object[] } {
  return { messages: said(`!sim ${JSON.stringify(script)}`) };
}

/** Of a chunked body. */
function chunkSizes(body: string): number[] {
  const sizes: number[] = [];
  for (let at = 0; at < body.length; ) {
    const size = Number.parseInt(body.slice(at), 16);
    sizes.push(size);
    at = body.indexOf('\r\n', at) + 2 + size + 2;
  }
  return sizes;
}

test('a failure may carry headers', async () => {
  const answer = await post(
    `${server.url}/v1/chat/completions`,
    scripted({ status: 503, headers: { 'Retry-After': '7' } }),
  );
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '7']);
});

describe('a cut after no chunk comes before the head', () => {
  test.each([
    ['of a stream', { cut_after_chunks: 0 }, true],
    ['of an answer in one piece', { cut_after_chunks: 0 }, false],
    ['of a failure', { cut_after_chunks: 0, status: 503 }, false],
  ])('%s', async (_what, script, stream) => {
    const { text, error } = await rawExchange(server.port, { ...scripted(script), stream });
    expect([text, error]).toEqual(['', undefined]);
  });
});

test('a reset breaks the connection hard, after what was to come before', async () => {
  const early = await rawExchange(server.port, scripted({ cut_after_chunks: 0, reset: true }));
  expect(early).toMatchObject({ text: '', error: 'ECONNRESET' });
  const body = { ...scripted({ text: 'one two three', cut_after_chunks: 2, reset: true }), stream: true };
  const late = await rawExchange(server.port, body);
  expect(late.text).toContain('" two"');
  // A reader that is late reads bytes and the end at once, and cannot tell.
  await expect.poll(async () => (await rawExchange(server.port, body)).error).toBe('ECONNRESET');
});

test('a cut after the last chunk leaves out what ends a stream', async () => {
  const { text } = await rawExchange(server.port, {
    ...scripted({ text: 'one two', cut_after_chunks: 2 }),
    stream: true,
  });
  expect(text).toContain('"finish_reason":"stop"');
  expect(text).not.toContain('[DONE]');
});

test('a failure is cut in the middle of its body', async () => {
  const { text } = await rawExchange(
    server.port,
    scripted({ status: 503, error: 'busy', cut_after_chunks: 1 }),
  );
  expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\n\r\n\{"error"/);
  expect(text).not.toContain('"code":503}}');
});

test('a failure falls silent in the middle of its body', async () => {
  const leave = new AbortController();
  const answer = await post(`${server.url}/v1/chat/completions`, scripted({ status: 503, hang: 1 }), {
    signal: leave.signal,
  });
  expect(answer.status).toBe(503);
  let received = '';
  await expect(async () => {
    for await (const part of answer.body ?? []) {
      received += Buffer.from(part).toString('utf8');
      leave.abort();
    }
  }).rejects.toThrow();
  expect(received).toMatch(/^\{"error"/);
  expect(received).not.toMatch(/\}\}$/);
});

test('the next request on the same connection gets nothing', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (script: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(`${server.url}/v1/chat/completions`, { method: 'POST', agent, headers });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let text = '';
        response.on('data', (part) => {
          text += part;
        });
        response.once('end', () => resolve(text));
      });
      sent.end(JSON.stringify(scripted(script)));
    });
  expect(await ask({ text: 'first', close_next: true })).toContain('first');
  await expect(ask({ text: 'second' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await ask({ text: 'third' })).toContain('third');
  agent.destroy();
});

test('a stream arrives in pieces of the scripted size, and whole', async () => {
  const script = { text: 'Grüße, 你好', split_bytes: 7 };
  const { text } = await rawExchange(server.port, { ...scripted(script), stream: true });
  const sizes = chunkSizes(text.slice(text.indexOf('\r\n\r\n') + 4));
  expect(sizes.length).toBeGreaterThan(100);
  expect(new Set(sizes.slice(0, -2))).toEqual(new Set([7]));
  const events = await chatEvents(server.url, scripted(script));
  expect(events.at(-1)).toBe('[DONE]');
  expect(
    chunksOf(events)
      .map((chunk) => chunk.choices[0]?.delta.content)
      .join(''),
  ).toBe(script.text);
});

describe('an error in a stream', () => {
  test('comes after a few made-up chunks, none of which finishes', async () => {
    const chunks = chunksOf(await chatEvents(server.url, scripted({ error: 'out of memory' })));
    expect(chunks.at(-1)?.error?.message).toBe('out of memory');
    expect(chunks.length).toBeLessThan(8);
    expect(chunks.map((chunk) => chunk.choices?.[0]?.finish_reason ?? null)).toEqual(chunks.map(() => null));
  });

  test('comes without a finish after a scripted text and in completions', async () => {
    const chunks = chunksOf(await chatEvents(server.url, scripted({ text: 'a b', error: 'no' })));
    expect(chunks.map((chunk) => chunk.choices?.[0]?.finish_reason ?? null)).toEqual(chunks.map(() => null));
    const answer = await post(`${server.url}/v1/completions`, {
      prompt: '!sim {"error": "no"}',
      max_tokens: 100,
      stream: true,
    });
    const events = chunksOf(eventsOf(await answer.text()));
    expect(events.length).toBeLessThan(8);
    expect(events.map((chunk) => chunk.choices?.[0]?.finish_reason ?? null)).toEqual(events.map(() => null));
  });
});

describe('attempts', () => {
  const refusedOnce = { attempts: [{ status: 400, error: 'too long' }, { text: 'well' }] };

  test('each time that the same request comes has its own script; the last one repeats', async () => {
    const body = scripted(refusedOnce);
    expect((await chat(server.url, body)).error?.message).toBe('too long');
    expect((await chat(server.url, body)).choices[0]?.message.content).toBe('well');
    expect((await chat(server.url, body)).choices[0]?.message.content).toBe('well');
  });

  test('another cap makes no other request, another seed does', async () => {
    const body = scripted({ ...refusedOnce, delay_ms: 1 });
    expect((await chat(server.url, { ...body, max_tokens: 10 })).error?.message).toBe('too long');
    expect((await chat(server.url, { ...body, max_tokens: 9 })).error).toBeUndefined();
    expect((await chat(server.url, { ...body, seed: 1 })).error?.message).toBe('too long');
  });

  test('are forgotten with the requests', async () => {
    const body = scripted({ ...refusedOnce, delay_ms: 2 });
    await chat(server.url, body);
    await server.clearRequests();
    expect((await chat(server.url, body)).error?.message).toBe('too long');
  });

  test('a round of tool calls may have its own', async () => {
    const body = scripted({ rounds: [refusedOnce] });
    expect((await chat(server.url, body)).error?.message).toBe('too long');
    expect((await chat(server.url, body)).error).toBeUndefined();
  });
});
