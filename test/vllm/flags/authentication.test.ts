import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TestProxy, told } from '../../support/proxy.js';
import { describeBoth } from '../support/behind-proxy.js';
import { type Answer, CHAT } from '../support/chat.js';
import { describeServers, headersFor, type Server } from '../support/servers.js';

const BODY = JSON.stringify({
  model: 'tiny',
  messages: [{ role: 'user', content: 'hello there' }],
  max_tokens: 1,
  chat_template_kwargs: { enable_thinking: false },
});

function send(server: Server, authorization: string | undefined, path = CHAT): Promise<Response> {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (authorization !== undefined) headers.set('authorization', authorization);
  return fetch(server.url + path, { method: 'POST', headers, body: BODY });
}

describeServers('flags', (server) => {
  describeBoth(server, (asked) => {
    test.each([undefined, 'Bearer wrong', 'sekret', 'Basic sekret'])(
      'a request with `Authorization: %s` gets the text of the server',
      async (authorization) => {
        const answer = await send(asked, authorization);
        expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}']);
        expect(answer.headers.get('www-authenticate')).toBeNull();
      },
    );

    test.each(['Bearer sekret', 'bearer sekret'])('`%s` is let in', async (authorization) => {
      expect((await send(asked, authorization)).status).toBe(200);
    });

    test('a key in x-api-key is none', async () => {
      const headers = { 'content-type': 'application/json', 'x-api-key': 'sekret' };
      const answer = await fetch(asked.url + CHAT, { method: 'POST', headers, body: BODY });
      expect(answer.status).toBe(401);
    });

    test('/tokenize asks for no key', async () => {
      expect((await send(asked, undefined, '/tokenize')).status).toBe(200);
    });
  });

  describe('the proxy', () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url, 'upstream-api-key': server.apiKey ?? '' });
      await proxy.ready();
    });
    afterAll(() => proxy.close());

    test('brings its own key where it has one, and counts with it', async () => {
      const answer = await send({ ...server, url: proxy.url }, 'Bearer of-the-client');
      const { usage } = (await answer.json()) as Answer;
      expect(told(answer)).toMatchObject({
        source: 'vllm-tokenize',
        'prompt-tokens': String(usage.prompt_tokens),
        'context-length': '131072',
      });
    });

    test('names the models of the server to a client with the key', async () => {
      const answer = await fetch(`${proxy.url}/v1/models`, { headers: headersFor(server) });
      const { data } = (await answer.json()) as { data: { id: string }[] };
      expect(data.map(({ id }) => id)).toEqual(['tiny', 'tiny-alias']);
    });
  });
});
