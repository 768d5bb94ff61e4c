import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createVllmBackend } from '../../src/backends/vllm/vllm-backend.js';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { type Arrived, counted, imageSample, json, listen } from './support/tokenizer-stub.js';

/** Counts a chat by its length as it arrives, so that another rendering is another count. */
const byLength = (response: Parameters<typeof counted>[0], { body }: Arrived) =>
  counted(response, body.length);
const REASONED = {
  model: 'm',
  messages: [{ role: 'assistant', content: 'b', reasoning_content: 'because' }],
};
const NOT_CHOSEN = {
  ...HELLO,
  tools: [{ type: 'function', function: { name: 'look_up' } }],
  tool_choice: 'none',
};
const tokenized = (arrived: readonly Arrived[]) =>
  arrived.filter(({ path }) => path === '/tokenize').map(({ body }) => body);

describe('what the version decides', () => {
  test.each([
    ['0.22.0', '"reasoning":"because"'],
    ['0.32.0', '"reasoning":"because"'],
    ['0.16.0', '"reasoning_content":"because"'],
    ['0.20.1', '"reasoning_content":"because"'],
  ])('reasoning_content is counted as vLLM %s renders it', async (version, asked) => {
    const stub = await listen(byLength, version);
    const count = await vllm(contextFor(stub.url)).count(requestOf(REASONED), callOf());
    expect(tokenized(stub.arrived)).toEqual([expect.stringContaining(asked)]);
    expect(count.rough).toBeUndefined();
  });

  test('reasoning_effort switches no thinking before 0.22', async () => {
    const stub = await listen(byLength, '0.16.0');
    await vllm(contextFor(stub.url)).count(requestOf({ ...HELLO, reasoning_effort: 'low' }), callOf());
    expect(tokenized(stub.arrived)[0]).toContain('"chat_template_kwargs":{"reasoning_effort":"low"}');
  });

  test('where a gateway hides the version, a count that does not depend on it stays exact', async () => {
    const stub = await listen(
      (response, { path }) => (path === '/version' ? json(response, {}, 404) : counted(response, 7)),
      null,
    );
    const count = await vllm(contextFor(stub.url)).count(requestOf(REASONED), callOf());
    expect(count).toEqual({ tokens: 7, contextLength: 65_536 });
  });

  test('where it hides the version and the count depends on it, it is called rough, and the most that is likely', async () => {
    const stub = await listen(
      (response, arrived) =>
        arrived.path === '/tokenize' ? byLength(response, arrived) : json(response, {}, 404),
      null,
    );
    const count = await vllm(contextFor(stub.url)).count(requestOf(REASONED), callOf());
    const bodies = tokenized(stub.arrived);
    expect(bodies).toHaveLength(2);
    expect(count).toMatchObject({ tokens: Math.max(...bodies.map((body) => body.length)), rough: true });
  });

  test('only what depends on the version asks for it', async () => {
    const stub = await listen(byLength, null);
    await vllm(contextFor(stub.url)).count(requestOf({ ...HELLO, tools: NOT_CHOSEN.tools }), callOf());
    expect(stub.arrived.map(({ path }) => path)).toEqual(['/tokenize']);
  });

  test.each([
    ['0.32.0', 2, undefined],
    ['0.16.0', 9, undefined],
    ['0.24.0', 9, true],
  ])('token ids of a prefill are the prompt where vLLM %s takes them', async (version, tokens, rough) => {
    const stub = await listen((response) => counted(response, 9), version);
    const request = requestOf({ ...HELLO, kv_transfer_params: { prompt_token_ids: [1, 2] } });
    const count = await vllm(contextFor(stub.url)).count(request, callOf());
    expect([count.tokens, count.rough]).toEqual([tokens, rough]);
  });
});

/** A server that counts 100 with tools and 10 without, in `/tokenize` and in what it says of itself. */
function flagged(hidesTools: boolean, endpoint: 'render' | 'render-0.16' | 'count_tokens' | 'none') {
  return listen((response, { path, body }) => {
    const shown = body.includes('"tools"');
    if (path === '/tokenize') return counted(response, shown ? 100 : 10);
    const ids = Array.from({ length: shown && !hidesTools ? 100 : 10 }, (_, i) => i);
    if (path === '/v1/messages/count_tokens' && endpoint === 'count_tokens')
      return json(response, { input_tokens: ids.length });
    if (path === '/v1/chat/completions/render' && endpoint === 'render')
      return json(response, { token_ids: ids });
    if (path === '/v1/chat/completions/render' && endpoint === 'render-0.16')
      return json(response, [[{ role: 'user' }], [{ prompt_token_ids: ids, prompt: 'x' }]]);
    return json(response, { error: { message: 'Scale-out endpoints are disabled.' } }, 403);
  });
}

describe('what a start flag decides', () => {
  test.each(['render', 'render-0.16', 'count_tokens'] as const)(
    'tools that tool_choice none hides are not counted: found out by %s, once',
    async (endpoint) => {
      for (const hides of [true, false]) {
        const stub = await flagged(hides, endpoint);
        const backend = vllm(contextFor(stub.url));
        for (const content of ['a', 'b', 'c']) {
          const request = requestOf({ ...NOT_CHOSEN, messages: [{ role: 'user', content }] });
          expect(await backend.count(request, callOf())).toEqual({
            tokens: hides ? 10 : 100,
            contextLength: 65_536,
          });
        }
        const asked = stub.arrived.filter(({ path }) => path.includes(endpoint.replace('-0.16', '')));
        expect(asked).toHaveLength(2);
      }
    },
  );

  test('where the server does not tell, the count is called rough, and the most that is likely', async () => {
    const stub = await flagged(false, 'none');
    const count = await vllm(contextFor(stub.url)).count(requestOf(NOT_CHOSEN), callOf());
    expect(count).toMatchObject({ tokens: 100, rough: true });
  });
});

test('what one model of a router hides says nothing of another', async () => {
  const stub = await listen((response, { path, body }) => {
    const shown = body.includes('"tools"') && (path === '/tokenize' || !body.includes('"hiding"'));
    if (path === '/tokenize') return counted(response, shown ? 100 : 10);
    return json(response, { token_ids: Array.from({ length: shown ? 100 : 10 }, (_, i) => i) });
  });
  const backend = vllm(contextFor(stub.url));
  const tokens = async (model: string) =>
    (await backend.count(requestOf({ ...NOT_CHOSEN, model }), callOf())).tokens;
  expect([await tokens('hiding'), await tokens('showing'), await tokens('hiding')]).toEqual([10, 100, 10]);
});

describe('a server that does not tell what it is asked about itself', () => {
  const chat = (content: string) => requestOf({ ...HELLO, messages: [{ role: 'user', content }] });

  const failures: [string, (response: ServerResponse) => void][] = [
    ['answers 500', (response) => json(response, {}, 500)],
    ['answers 401', (response) => json(response, {}, 401)],
    ['answers something else', (response) => json(response, { hello: 1 })],
    ['has no such endpoint', (response) => json(response, {}, 404)],
  ];

  test.each(failures)('is not asked again with every chat, and called rough: it %s', async (_, answer) => {
    const stub = await listen(
      (response, { path }) => (path === '/tokenize' ? counted(response, 20) : answer(response)),
      '0.16.0',
    );
    const backend = vllm(contextFor(stub.url), { examines: true });
    for (const content of ['a', 'b', 'c', 'd']) {
      expect(await backend.count(chat(content), callOf())).toMatchObject({ tokens: 20, rough: true });
    }
    expect(stub.arrived.filter(({ path }) => path.endsWith('/render'))).toHaveLength(1);
  });

  test.each(failures)('is exact from 0.18 on, but for gpt-oss: it %s', async (_, answer) => {
    for (const isHarmony of [false, true]) {
      const stub = await listen((response, { path, body }) => {
        if (path !== '/tokenize') return answer(response);
        return counted(response, !body.includes('<|channel|>') ? 20 : isHarmony ? 1 : 5);
      }, '0.18.0');
      const backend = vllm(contextFor(stub.url), { examines: true });
      for (const content of ['a', 'b', 'c']) {
        const { tokens, rough = false } = await backend.count(chat(content), callOf());
        expect([tokens, rough]).toEqual([20, isHarmony]);
      }
      expect(stub.arrived.filter(({ body }) => body.includes('<|channel|>'))).toHaveLength(1);
    }
  });

  test('is rough no longer than it fails: a single failure is forgotten', async () => {
    let now = 0;
    let fails = true;
    const stub = await listen((response, { path }) => {
      if (path === '/tokenize') return counted(response, 20);
      return fails ? json(response, {}, 500) : json(response, { token_ids: Array.from({ length: 20 }) });
    }, '0.16.0');
    const backend = vllm(contextFor(stub.url), { examines: true, now: () => now });
    expect((await backend.count(chat('a'), callOf())).rough).toBe(true);
    fails = false;
    now += 31_000;
    expect((await backend.count(chat('a'), callOf())).rough).toBeUndefined();
  });

  test('counts elsewhere by a version that is not known', async () => {
    const upstream = await listen((response) => json(response, {}, 404));
    const tokenizer = await listen((response) => counted(response, 20));
    const url = `${tokenizer.url}/tokenize`;
    const backend = vllm(contextFor(upstream.url, { url }), { examines: true });
    expect(await backend.count(chat('a'), callOf())).toMatchObject({ tokens: 20, rough: true });
  });

  test.each(['/version', '/v1/chat/completions/render'])(
    'is not waited for with every chat: %s never answers',
    async (silent) => {
      const stub = await listen((response, { path }) => {
        if (path === '/tokenize') counted(response, 20);
        else if (path !== silent) json(response, { version: '0.32.0' });
      }, null);
      const backend = vllm(contextFor(stub.url), { examines: true });
      for (const content of ['a', 'b', 'c']) {
        const reasoned = { role: 'assistant', content, reasoning_content: 'because' };
        await backend.count(requestOf({ ...HELLO, messages: [reasoned] }), callOf());
      }
      expect(stub.arrived.filter(({ path }) => path === silent)).toHaveLength(1);
    },
  );

  test('of somebody whose key it refuses tells it to others', async () => {
    const stub = await listen((response, { path, headers }) => {
      if (path === '/tokenize') return counted(response, 20);
      if (headers.authorization !== 'Bearer good') return json(response, {}, 401);
      return json(response, { token_ids: Array.from({ length: 25 }, (_, i) => i) });
    });
    const backend = vllm(contextFor(stub.url), { examines: true });
    await backend.count(chat('a'), callOf({ credential: 'Bearer bad' }));
    expect(await backend.count(chat('b'), callOf({ credential: 'Bearer good' }))).toMatchObject({
      tokens: 25,
    });
  });
});

describe('a server that renders chats otherwise than /tokenize', () => {
  const examined = async (render: boolean, offset: number) => {
    const stub = await listen((response, { path, body }) => {
      if (path === '/tokenize') return counted(response, 20);
      if (path === '/v1/messages/count_tokens') return json(response, { input_tokens: 20 + offset });
      const ids = Array.from({ length: body.includes('long') ? 77 : 20 + offset }, (_, i) => i);
      return render ? json(response, { token_ids: ids }) : json(response, {}, 403);
    });
    const backend = vllm(contextFor(stub.url), { examines: true });
    const long = requestOf({ model: 'm', messages: [{ role: 'user', content: 'long' }], max_tokens: 9 });
    const counts = [await backend.count(long, callOf()), await backend.count(long, callOf())];
    return { counts, stub, backend };
  };

  test('is counted by its own rendering where it offers that', async () => {
    const { counts, stub } = await examined(true, 5);
    expect(counts).toMatchObject([{ tokens: 77 }, { tokens: 77 }]);
    expect(counts[0]?.rough).toBeUndefined();
    const rendered = stub.arrived.filter(({ body }) => body.includes('long') && !body.includes('add_gen'));
    expect(rendered.map(({ body }) => body.includes('max_tokens'))).toEqual([false]);
  });

  test('is asked once whether it offers that', async () => {
    const { backend, stub } = await examined(false, 5);
    const chats = ['a', 'b', 'c', 'd'].map((content) =>
      requestOf({ ...HELLO, messages: [{ role: 'user', content }] }),
    );
    for (const chat of chats) expect((await backend.count(chat, callOf())).rough).toBe(true);
    expect(stub.arrived.filter(({ path }) => path.endsWith('/render'))).toHaveLength(1);
  });

  test.each([
    [5, 25],
    [-5, 20],
  ])('is called rough where it offers none: a sample is %i tokens longer', async (offset, tokens) => {
    const { counts } = await examined(false, offset);
    expect(counts[0]).toMatchObject({ tokens, rough: true });
  });

  test('is trusted where the sample is the same, and asked once', async () => {
    const { counts, stub } = await examined(false, 0);
    expect(counts[0]).toEqual({ tokens: 20, contextLength: 65_536 });
    expect(stub.arrived.filter(({ path }) => path.endsWith('count_tokens'))).toHaveLength(1);
  });
});

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
const SEEN = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, image, audio] }],
};

describe('images and audio', () => {
  /** A server that counts 1500, and 10 for a sample without an image; with one, by how large it is. */
  const seeing = (small: number, large: number, path = '/tokenize') =>
    listen((response, { path: at, body }) => {
      if (at !== path) return json(response, {}, 404);
      const sample = imageSample(body);
      const isSample = body.includes('"text":"hello"}');
      const tokens = !isSample ? 1500 : sample === undefined ? 10 : sample === 14 ? small : large;
      return path === '/tokenize' ? counted(response, tokens) : json(response, { input_tokens: tokens });
    }, null);

  test.each([
    ['the larger the more', 14, 74],
    ['as many tokens for every one', 266, 266],
  ])('are counted by a server that counts them as the model gets them: %s', async (_, small, large) => {
    const stub = await seeing(small, large);
    const backend = vllm(contextFor(stub.url));
    for (let i = 0; i < 3; i += 1) {
      expect(await backend.count(requestOf(SEEN), callOf({ fresh: i > 0 }))).toEqual({
        tokens: 1500,
        contextLength: 65_536,
      });
      expect(await backend.count(requestOf({ ...SEEN, seed: i }), callOf())).toMatchObject({ tokens: 1500 });
    }
  });

  test('are asked about once by model', async () => {
    const stub = await seeing(14, 74);
    const backend = vllm(contextFor(stub.url));
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      const content = [{ type: 'text', text }, image];
      await backend.count(requestOf({ model: 'm', messages: [{ role: 'user', content }] }), callOf());
    }
    expect(stub.arrived.filter(({ body }) => imageSample(body) !== undefined)).toHaveLength(2);
  });

  test.each(['0.32.0', '1.0.0'])(
    'are reserved for where a sample is counted as its placeholder, whatever the version: %s',
    async (version) => {
      const stub = await listen((response, { path, body }) => {
        if (path === '/version') return json(response, { version });
        return counted(response, body.includes('image_url') ? 13 : 10);
      }, null);
      const count = await vllm(contextFor(stub.url)).count(requestOf(SEEN), callOf());
      expect(count).toMatchObject({ tokens: 13 + 2 * 2048, rough: true });
    },
  );

  test.each([
    ['counts them as the model gets them', 14, 74, 1500],
    ['counts a placeholder', 13, 13, undefined],
  ])('in the form of Anthropic are counted where count_tokens %s', async (_, small, large, tokens) => {
    const path = '/v1/messages/count_tokens';
    const stub = await seeing(small, large, path);
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const request = requestOf({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    });
    const count = vllm(contextFor(stub.url)).count(request, callOf({ path: '/v1/messages' }));
    if (tokens === undefined) expect(await failureOf(count)).toEqual(failed('unsupported'));
    else expect(await count).toMatchObject({ tokens });
  });

  test.each([
    [{}, 2 * 2048],
    [{ media_reserve_tokens: 300 }, 600],
    [{ media_reserve_tokens: 0 }, 0],
  ])(
    'are reserved for by media_reserve_tokens on others, and the count is rough: %j',
    async (options, reserve) => {
      const stub = await listen((response) => counted(response, 20), '0.16.0');
      const count = await vllm(contextFor(stub.url, {}, { options })).count(requestOf(SEEN), callOf());
      expect(count).toMatchObject({ tokens: 20 + reserve, rough: true });
    },
  );
});

test.each([
  [{ media_reserve_tokens: -1 }, 'backends.vllm.media_reserve_tokens'],
  [{ long_counts_at_once: 0 }, 'backends.vllm.long_counts_at_once'],
  [{ media_reserve_token: 1 }, 'backends.vllm.media_reserve_token'],
  ['x', 'backends.vllm'],
])('settings of its own that make no sense stop the start: %j', (options, setting) => {
  expect(() => createVllmBackend(contextFor('http://u', {}, { options }))).toThrow(setting);
});
