import { describe, expect, test } from 'vitest';
import { scriptedEngine, type TestEngine } from '../../support/engine.js';
import { countingStub, folder, hosted, tokensOf } from '../../support/hosted.js';
import { type TestProxy, told } from '../../support/proxy.js';
import { json, type UpstreamStub } from '../../support/upstream-stub.js';

const MESSAGES = '/v1/messages';
const SUMMARY = { role: 'user', content: 'Earlier: much.' };

/** Takes all but the last three messages for a summary. */
const summarising = (): TestEngine =>
  scriptedEngine((messages) => [SUMMARY, { role: 'assistant', content: 'Noted.' }, ...messages.slice(-1)]);

/** Counts four characters of the messages as one token, as `/tokenize` does there. */
function messagesStub(): Promise<UpstreamStub> {
  return countingStub({
    routes: {
      'GET /version': (_request, response) => json(response, 200, { version: '0.32.0' }),
      [`POST ${MESSAGES}`]: (_request, response) => json(response, 200, { type: 'message', content: [] }),
      [`POST ${MESSAGES}/count_tokens`]: (request, response) =>
        json(response, 200, { input_tokens: tokensOf(JSON.parse(request.body.toString()).messages) }),
    },
  });
}

const history = (turns: number, name = 'talk') =>
  Array.from({ length: 2 * turns - 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: `${name} ${i} ${'x'.repeat(2000)}` }],
  }));

function post(proxy: TestProxy, messages: unknown, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ model: 'm', messages, max_tokens: 100 });
  return fetch(proxy.url + MESSAGES, { method: 'POST', body, headers });
}

const sentTo = (stub: UpstreamStub) =>
  stub.at(MESSAGES).map(({ body }) => JSON.parse(body.toString()).messages as unknown[]);

describe('a conversation in the form of Anthropic', () => {
  test('stands on its checkpoint in the next request, after a restart too', async () => {
    const stub = await messagesStub();
    const data = folder();
    const first = await hosted({ engine: summarising(), stub, data });
    const long = history(4);
    expect(told(await post(first, long))).toMatchObject({ action: 'compressed', reason: 'compression_due' });
    const longer = [...long, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'and?' }];
    expect(told(await post(first, longer))).toMatchObject({ reason: 'checkpoint_reused' });
    await first.close();
    const engine = summarising();
    const second = await hosted({ engine, stub, data });
    expect(told(await post(second, longer))).toMatchObject({ reason: 'checkpoint_reused' });
    const compressed = [SUMMARY, { role: 'assistant', content: 'Noted.' }, long.at(-1)];
    const goneOn = [...compressed, ...longer.slice(-2)];
    expect(sentTo(stub)).toEqual([compressed, goneOn, goneOn]);
    expect(stub.at(MESSAGES)[1]?.body.equals(stub.at(MESSAGES)[2]?.body as Buffer)).toBe(true);
    expect(engine.passes).toEqual([]);
  });

  test('is another one for another x-api-key', async () => {
    const stub = await messagesStub();
    const engine = summarising();
    const proxy = await hosted({ engine, stub });
    const ids: string[] = [];
    for (const key of ['mine', 'yours', 'mine']) {
      const answer = told(await post(proxy, history(4), { 'x-api-key': key }));
      ids.push(String(answer.conversation));
    }
    expect(ids[0]).not.toBe(ids[1]);
    expect(ids[2]).toBe(ids[0]);
    expect(engine.passes).toHaveLength(2);
  });

  test('goes out as it is where its engine makes something that has no form there', async () => {
    const stub = await messagesStub();
    const engine = scriptedEngine((messages) => [
      { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] },
      ...messages.slice(-1),
    ]);
    const proxy = await hosted({ engine, stub });
    const long = history(4);
    expect(told(await post(proxy, long))).toMatchObject({ reason: 'clamped_to_context' });
    expect(sentTo(stub)).toEqual([long]);
  });

  test('has its engine hear of usage in the words of a chat', async () => {
    const stub = await messagesStub();
    const usage = { input_tokens: 40, output_tokens: 2 };
    stub.set({
      routes: {
        [`POST ${MESSAGES}`]: (_request, response) =>
          json(response, 200, { type: 'message', content: [{ type: 'text', text: 'ok' }], usage }),
      },
    });
    const engine = summarising();
    const proxy = await hosted({ engine, stub });
    await post(proxy, history(4));
    await proxy.close();
    expect(engine.instances[0]).toMatchObject({ lastPromptTokens: 40, lastCompletionTokens: 2 });
  });
});
