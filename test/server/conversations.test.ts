import { expect, test } from 'vitest';
import { IrreducibleError } from '../../src/engines/contract.js';
import { ScriptedEngine, scriptedEngine, summarise } from '../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  type HostedOptions,
  hosted,
  send,
  until,
} from '../support/hosted.js';
import type { TestProxy } from '../support/proxy.js';
import { startPair } from './support/pair.js';

const TALK = dialogue(4, 2900, 'unmistakable');

async function start(more: Partial<HostedOptions> = {}) {
  const stub = await countingStub();
  const engine = scriptedEngine();
  return { stub, engine, proxy: await hosted({ stub, engine, ...more }) };
}

async function ask(proxy: TestProxy, path = '', init: RequestInit = {}) {
  const response = await fetch(`${proxy.url}/incontext/conversations${path}`, init);
  const text = await response.text();
  return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) };
}

function order(proxy: TestProxy, id: string | undefined, body?: string) {
  return ask(proxy, `/${id}/compress`, { method: 'POST', ...(body === undefined ? {} : { body }) });
}

test('lists conversations with their counts, and never a word of them', async () => {
  const { stub, proxy } = await start();
  const { told } = await send(proxy, stub, TALK);
  const { status, json, text } = await ask(proxy);
  expect(status).toBe(200);
  expect(json).toEqual({
    conversations: [
      {
        id: told.conversation,
        messages: TALK.length,
        prompt_tokens: Number(told['prompt-tokens']),
        window: 3072,
        compressions: 1,
        last_seen: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ],
  });
  expect(text).not.toContain('unmistakable');
});

test('shows one conversation with its checkpoints and what its engine says of itself', async () => {
  const { stub, proxy } = await start();
  const { told } = await send(proxy, stub, TALK);
  const { status, json, text } = await ask(proxy, `/${told.conversation}`);
  expect(status).toBe(200);
  expect(json).toEqual({
    id: told.conversation,
    messages: TALK.length,
    prompt_tokens: Number(told['prompt-tokens']),
    window: 3072,
    compressions: 1,
    last_seen: expect.any(String),
    engine_status: {
      last_prompt_tokens: Number(told['prompt-tokens']),
      threshold_tokens: 3072,
      context_length: 4096,
      usage_percent: expect.any(Number),
      compression_count: 1,
    },
    checkpoints: [
      {
        messages: expect.any(Number),
        tokens_before: Number(told['original-prompt-tokens']),
        tokens_after: Number(told['prompt-tokens']),
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ],
  });
  expect(text).not.toContain('unmistakable');
});

test('shows a conversation whose engine cannot say how it is', async () => {
  class Mute extends ScriptedEngine {
    override getStatus(): never {
      throw new Error('secret');
    }
  }
  const { stub, proxy } = await start({ engine: scriptedEngine(undefined, Mute) });
  const { told } = await send(proxy, stub, TALK);
  const { status, json } = await ask(proxy, `/${told.conversation}`);
  expect([status, json.engine_status]).toEqual([200, null]);
});

test('shows what was known before a restart, with no engine at work', async () => {
  const data = folder();
  const first = await start({ data });
  const { told } = await send(first.proxy, first.stub, TALK);
  await first.proxy.close();
  const { proxy } = await start({ data });
  expect((await ask(proxy)).json.conversations).toHaveLength(1);
  expect((await ask(proxy, `/${told.conversation}`)).json).toMatchObject({
    compressions: 1,
    engine_status: null,
    checkpoints: [{}],
  });
});

/** A conversation that is known, of a tenant that has no checkpoint: a pass was tried early, and did not help. */
async function startUncompressed(more: Partial<HostedOptions> = {}) {
  const { stub, engine, proxy } = await start({ compression: { prepare: 0.8 }, ...more });
  engine.script = () => {
    throw new IrreducibleError();
  };
  const { told } = await send(proxy, stub, NEAR);
  await until(() => engine.passes.length === 1);
  engine.passes.length = 0;
  return { stub, engine, proxy, id: told.conversation };
}

const NEAR = dialogue(4, 2500);

test('compresses the next request after an order, due or not, with its focus, and once', async () => {
  const { stub, engine, proxy, id } = await startUncompressed();
  engine.script = summarise;
  const { status, json } = await order(proxy, id, '{"focus": " the schema "}');
  expect([status, json]).toEqual([202, { status: 'scheduled' }]);
  const next = goOn(NEAR);
  expect((await send(proxy, stub, next)).told).toMatchObject({
    action: 'compressed',
    reason: 'compression_due',
    conversation: id,
  });
  expect(engine.passes[0]?.options).toMatchObject({ focusTopic: 'the schema', force: true });
  expect((await send(proxy, stub, goOn(next))).told.reason).toBe('checkpoint_reused');
  expect(engine.passes).toHaveLength(1);
});

test('keeps an order for a conversation that has no engine at work, however small its next request', async () => {
  const data = folder();
  const first = await startUncompressed({ data });
  await first.proxy.close();
  const { stub, engine, proxy } = await start({ data });
  expect((await order(proxy, first.id)).status).toBe(202);
  expect((await send(proxy, stub, NEAR)).told.reason).toBe('compression_due');
  expect(engine.passes[0]?.options).toMatchObject({ focusTopic: undefined, force: true });
});

test('sends the request on as it is where an ordered pass fails, and orders are not repeated', async () => {
  const { stub, engine, proxy, id } = await startUncompressed({ compression: { prepare: 0.88 } });
  engine.script = () => {
    throw new Error('secret');
  };
  await order(proxy, id);
  const next = await send(proxy, stub, goOn(NEAR), { more: { max_tokens: 100 } });
  expect(next.messages).toEqual(goOn(NEAR));
  expect(next.told).toMatchObject({ action: 'unchanged', reason: 'fits' });
  await send(proxy, stub, goOn(goOn(NEAR)));
  expect(engine.passes.filter(({ options }) => options.force === true)).toHaveLength(1);
});

test.each(['', '{}', '{"focus": null}', '{"focus": ""}', '{"other": 1}'])(
  'takes the order %j for one without a focus',
  async (body) => {
    const { stub, proxy } = await start();
    const { told } = await send(proxy, stub, TALK);
    expect((await order(proxy, told.conversation, body)).status).toBe(202);
  },
);

test.each(['no JSON', '"focus"', '["focus"]', 'null', '{"focus": 1}', `{"focus": "${'x'.repeat(70_000)}"}`])(
  'refuses a malformed order',
  async (body) => {
    const { stub, proxy } = await start();
    const { told } = await send(proxy, stub, TALK);
    const { status, json } = await order(proxy, told.conversation, body);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param: null, code: 'malformed_order' });
  },
);

test('deletes a conversation with everything that it kept of it', async () => {
  const { stub, proxy } = await start();
  const { told } = await send(proxy, stub, TALK);
  expect(await ask(proxy, `/${told.conversation}`, { method: 'DELETE' })).toMatchObject({
    status: 204,
    text: '',
  });
  expect((await ask(proxy)).json).toEqual({ conversations: [] });
  expect((await ask(proxy, `/${told.conversation}`)).status).toBe(404);
  const next = await send(proxy, stub, goOn(TALK));
  expect(next.told.conversation).not.toBe(told.conversation);
  expect(next.told.reason).toBe('compression_due');
});

test('says that it does not know a conversation', async () => {
  const { proxy } = await start();
  for (const init of [{}, { method: 'DELETE' }] satisfies RequestInit[]) {
    const { status, json } = await ask(proxy, '/0123456789abcdef0123456789abcdef', init);
    expect(status).toBe(404);
    expect(json.error).toMatchObject({
      type: 'invalid_request_error',
      param: null,
      code: 'conversation_unknown',
    });
  }
  expect((await order(proxy, 'nobody')).json.error.code).toBe('conversation_unknown');
});

test('knows none with engine none', async () => {
  const { proxy } = await startPair();
  expect((await ask(proxy)).json).toEqual({ conversations: [] });
  expect((await ask(proxy, '/x')).status).toBe(404);
  expect((await order(proxy, 'x')).status).toBe(404);
});

test('names the methods of each endpoint to those who use another', async () => {
  const { proxy } = await start();
  for (const [path, method, allow] of [
    ['', 'POST', 'GET, HEAD'],
    ['/x', 'PUT', 'GET, HEAD, DELETE'],
    ['/x/compress', 'GET', 'POST'],
  ] as const) {
    const response = await fetch(`${proxy.url}/incontext/conversations${path}`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  }
});

test.each([
  [
    'with an admin token it takes that alone',
    { INCONTEXT_ADMIN_TOKEN: 'token', INCONTEXT_API_KEYS: 'key' },
    'token',
    'key',
  ],
  ['with keys it takes one of them', { INCONTEXT_API_KEYS: 'key' }, 'key', 'token'],
])('%s', async (_what, env, right, wrong) => {
  const { proxy } = await start({ env });
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  expect((await ask(proxy, '', as(right))).status).toBe(200);
  for (const init of [as(wrong), {}, { method: 'DELETE' }])
    expect((await ask(proxy, '/x', init)).status).toBe(401);
  expect((await ask(proxy, '/x/compress', { method: 'POST' })).status).toBe(401);
});

test('without either it answers this machine only', async () => {
  const { proxy } = await start();
  expect((await ask(proxy)).status).toBe(200);
  expect((await ask(proxy, '', { headers: { 'x-forwarded-for': '10.0.0.1' } })).status).toBe(401);
});
