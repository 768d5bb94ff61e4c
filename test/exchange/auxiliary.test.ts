import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../src/conversation/message.js';
import { CompletionError } from '../../src/engines/services.js';
import { type Script, scriptedEngine, summarise } from '../support/engine.js';
import {
  countingStub,
  dialogue,
  type HostedOptions,
  hosted,
  type SendOptions,
  send,
  tokensOf,
  until,
} from '../support/hosted.js';
import {
  CHAT,
  json,
  type Received,
  type StubRoute,
  startStub,
  type UpstreamStub,
} from '../support/upstream-stub.js';

const ASK: Message[] = [{ role: 'user', content: 'Summarise what is private.' }];
const LONG = dialogue(4, 2900);

interface Asked {
  readonly text?: string;
  readonly failure?: unknown;
}

/** An engine whose pass asks the model, and notes what came of it. */
function asking({ messages = ASK, maxTokens = 500 } = {}) {
  const asked: Asked[] = [];
  const script: Script = async (view, options, engine) => {
    try {
      const { text } = await engine.services.complete(messages, { maxTokens, signal: options.signal });
      asked.push({ text });
    } catch (error) {
      asked.push({ failure: error instanceof CompletionError ? error.failure : error });
    }
    return await summarise(view, options, engine);
  };
  return { engine: scriptedEngine(script), asked };
}

/** The engine's own requests, known by their only message. */
function own(stub: UpstreamStub): Received[] {
  return stub.at(CHAT).filter(({ body }) => body.includes('Summarise what is private'));
}

/** Answers the engine's requests in its way, and clients as a stub does. */
function answering(route: StubRoute, more: Record<string, StubRoute> = {}): Promise<UpstreamStub> {
  return countingStub({
    routes: {
      ...more,
      [`POST ${CHAT}`]: (request, response) =>
        request.body.includes('Summarise what is private')
          ? route(request, response)
          : json(response, 200, { ok: true }),
    },
  });
}

function says(content: unknown): StubRoute {
  return (_request, response) =>
    json(response, 200, {
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    });
}

async function metric(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/incontext/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('incontext_summary_calls_total{'));
}

async function compressed(
  { engine, stub, ...rest }: HostedOptions,
  options: SendOptions = {},
): Promise<string[]> {
  const proxy = await hosted({ engine, stub, ...rest });
  const { told } = await send(proxy, stub, LONG, options);
  expect(told.reason).toBe('compression_due');
  expect(JSON.stringify(proxy.logged)).not.toContain('private');
  return await metric(proxy.url);
}

test('goes to the upstream of the caller, with its credential and model, and is no exchange of its own', async () => {
  const { engine, asked } = asking();
  const stub = await answering(says('<think>hm</think> It is short.'));
  const headers = { authorization: 'Bearer client-key' };
  const lines = await compressed({ engine, stub }, { headers });
  expect(asked).toEqual([{ text: 'It is short.' }]);
  expect(own(stub)).toHaveLength(1);
  const [request] = own(stub) as [Received];
  expect(request.headers.authorization).toBe('Bearer client-key');
  expect(JSON.parse(request.body.toString())).toEqual({
    messages: ASK,
    model: 'm',
    max_tokens: 500,
    temperature: 0,
    stream: false,
    chat_template_kwargs: { enable_thinking: false },
  });
  expect(engine.passes).toHaveLength(1);
  expect(lines).toEqual(['incontext_summary_calls_total{result="completed"} 1']);
});

test('has at most 1024 tokens where the engine gives no options', async () => {
  const texts: string[] = [];
  const engine = scriptedEngine(async (view, options, own) => {
    texts.push((await own.services.complete(ASK)).text);
    return await summarise(view, options, own);
  });
  const stub = await answering(says('It is short.'));
  await compressed({ engine, stub });
  expect(texts).toEqual(['It is short.']);
  expect(JSON.parse(own(stub)[0]?.body.toString() ?? '')).toMatchObject({ max_tokens: 1024 });
});

test('goes to the server of summary_url with its key and model; the caller’s credential never does', async () => {
  const { engine, asked } = asking();
  const stub = await countingStub();
  const other = await answering(says('It is short.'));
  const headers = { authorization: 'Bearer client-key' };
  const compression = { summary_url: other.url, summary_api_key: 'sk-summary', summary_model: 'small' };
  await compressed({ engine, stub, compression }, { headers });
  expect(asked).toEqual([{ text: 'It is short.' }]);
  expect(own(stub)).toEqual([]);
  const [request] = own(other) as [Received];
  expect(request.headers.authorization).toBe('Bearer sk-summary');
  expect(JSON.parse(request.body.toString())).toMatchObject({ model: 'small', max_tokens: 500 });
  expect(request.body.includes('chat_template_kwargs')).toBe(false);
  expect(JSON.stringify(other.received.map(({ rawHeaders }) => rawHeaders))).not.toContain('client-key');
});

test('sends no credential to summary_url where none is configured', async () => {
  const { engine } = asking();
  const stub = await countingStub();
  const other = await answering(says('It is short.'));
  const headers = { authorization: 'Bearer client-key' };
  await compressed({ engine, stub, compression: { summary_url: other.url } }, { headers });
  expect(own(other)[0]?.headers.authorization).toBeUndefined();
});

/** As vLLM tells it. */
const VERSION: Record<string, StubRoute> = {
  'GET /version': (_request, response) => json(response, 200, { version: '0.32.0' }),
};

test.each([12_000, 200])(
  'has its cap fit the window of summary_url, behind %i characters',
  async (length) => {
    const messages = [{ role: 'user', content: `Summarise what is private. ${'x'.repeat(length)}` }];
    const { engine } = asking({ messages, maxTokens: 2000 });
    const stub = await countingStub({ window: 32_768, count: ({ messages: all }) => tokensOf(all) * 9 });
    const other = await answering(says('It is short.'), VERSION);
    await compressed({ engine, stub, compression: { summary_url: other.url } });
    expect(JSON.parse(own(other)[0]?.body.toString() ?? '')).toMatchObject({
      max_tokens: Math.min(2000, 4096 - tokensOf(messages)),
    });
  },
);

test('is not sent where summary_url has no room for it', async () => {
  const messages = [{ role: 'user', content: `Summarise what is private. ${'x'.repeat(20_000)}` }];
  const { engine, asked } = asking({ messages });
  const stub = await countingStub({ window: 32_768, count: ({ messages: all }) => tokensOf(all) * 9 });
  const other = await answering(says('It is short.'), VERSION);
  await compressed({ engine, stub, compression: { summary_url: other.url } });
  expect(own(other)).toEqual([]);
  expect(asked).toEqual([{ failure: 'failed' }]);
});

test('goes to a summary_url that tells nothing of its model with the cap that the engine asks for', async () => {
  const { engine, asked } = asking();
  const stub = await countingStub();
  const nothing: StubRoute = (_request, response) => json(response, 404, {});
  const other = await startStub({
    routes: { 'GET /v1/models': nothing, 'POST /tokenize': nothing, [`POST ${CHAT}`]: says('It is short.') },
  });
  onTestFinished(() => other.close());
  await compressed({ engine, stub, compression: { summary_url: other.url } });
  expect(asked).toEqual([{ text: 'It is short.' }]);
  expect(JSON.parse(own(other)[0]?.body.toString() ?? '')).toMatchObject({ max_tokens: 500 });
});

test('lets the model think where the operator wants it', async () => {
  const { engine } = asking();
  const stub = await answering(says('It is short.'));
  await compressed({ engine, stub, compression: { summary_thinking: true } });
  expect(own(stub)[0]?.body.includes('chat_template_kwargs')).toBe(false);
});

test('asks without template arguments where the server refuses them', async () => {
  const { engine, asked } = asking();
  const stub = await answering((request, response) =>
    request.body.includes('chat_template_kwargs')
      ? json(response, 400, { error: { message: 'chat_template is not supported for Mistral tokenizers.' } })
      : says('It is short.')(request, response),
  );
  await compressed({ engine, stub });
  expect(asked).toEqual([{ text: 'It is short.' }]);
  expect(own(stub)).toHaveLength(2);
});

test('has its cap lowered to what is left behind its prompt', async () => {
  const messages = [{ role: 'user', content: `Summarise what is private. ${'x'.repeat(12_000)}` }];
  const { engine } = asking({ messages, maxTokens: 2000 });
  const stub = await answering(says('It is short.'));
  await compressed({ engine, stub });
  const { max_tokens: cap, messages: sent } = JSON.parse(own(stub)[0]?.body.toString() ?? '');
  expect(cap).toBe(4096 - Math.ceil(JSON.stringify(sent).length / 4));
});

test('is not sent where its prompt leaves less than the reserve', async () => {
  const messages = [{ role: 'user', content: `Summarise what is private. ${'x'.repeat(16_000)}` }];
  const { engine, asked } = asking({ messages, maxTokens: 2000 });
  const stub = await answering(says('It is short.'));
  const lines = await compressed({ engine, stub });
  expect(own(stub)).toEqual([]);
  expect(asked).toEqual([{ failure: 'failed' }]);
  expect(lines).toEqual(['incontext_summary_calls_total{result="failed"} 1']);
});

test.each([
  [401, 'refused'],
  [402, 'refused'],
  [403, 'refused'],
  [408, 'unavailable'],
  [429, 'unavailable'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [404, 'failed'],
  [302, 'failed'],
])('tells the engine of status %s as %s', async (status, failure) => {
  const { engine, asked } = asking();
  const stub = await answering((_request, response) => json(response, status, { error: { message: 'no' } }));
  const lines = await compressed({ engine, stub });
  expect(asked).toEqual([{ failure }]);
  expect(own(stub)).toHaveLength(1);
  expect(lines).toEqual([`incontext_summary_calls_total{result="${failure}"} 1`]);
});

test.each<[string, StubRoute]>([
  ['no text', says('')],
  ['no text but thoughts', says('<think>endless')],
  ['no JSON', (_request, response) => response.end('<html>')],
  ['more than a mebibyte', says('x'.repeat(2 ** 20))],
])('tells the engine of %s as failed', async (_what, route) => {
  const { engine, asked } = asking();
  const stub = await answering(route);
  await compressed({ engine, stub });
  expect(asked).toEqual([{ failure: 'failed' }]);
});

test('ends an answer that has no end', async () => {
  const { engine, asked } = asking();
  let cut: Promise<number> | undefined;
  const stub = await answering((request, response) => {
    cut = request.cut;
    const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
    response.once('close', () => clearInterval(timer));
  });
  await compressed({ engine, stub });
  expect(asked).toEqual([{ failure: 'failed' }]);
  await cut;
});

test('tells the engine that nobody answers, or too late', async () => {
  const cutting = await answering((_request, response) => response.destroy());
  const silent = await answering(() => {});
  const gone = await countingStub();
  await gone.close();
  for (const [compression, failure] of [
    [{ summary_url: cutting.url }, 'unavailable'],
    [{ summary_url: silent.url, summary_timeout_seconds: 0.1 }, 'failed'],
    [{ summary_url: gone.url }, 'unavailable'],
  ] as const) {
    const { engine, asked } = asking();
    await compressed({ engine, stub: await countingStub(), compression });
    expect(asked).toEqual([{ failure }]);
  }
});

test('ends with the client that it is made for', async () => {
  const { engine, asked } = asking();
  let waiting: Received | undefined;
  const stub = await answering((request) => {
    waiting = request;
  });
  const proxy = await hosted({ engine, stub });
  const client = new AbortController();
  const sent = fetch(`${proxy.url}${CHAT}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: LONG }),
    signal: client.signal,
  });
  await until(() => waiting !== undefined);
  client.abort();
  await expect(sent).rejects.toThrow();
  await waiting?.cut;
  await until(() => asked.length === 1);
  expect(asked[0]?.failure).not.toBeUndefined();
  await until(() => proxy.logged.some(({ outcome }) => outcome === 'client_abort'));
  expect(await metric(proxy.url)).toEqual(['incontext_summary_calls_total{result="aborted"} 1']);
});

test('is refused to an engine outside of a pass', async () => {
  const { engine } = asking();
  const stub = await answering(says('It is short.'));
  const proxy = await hosted({ engine, stub });
  await send(proxy, stub, LONG);
  const { services } = engine.instances[0] as (typeof engine.instances)[number];
  await expect(services.complete(ASK, { maxTokens: 10 })).rejects.toMatchObject({ failure: 'failed' });
  expect(own(stub)).toHaveLength(1);
});
