import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../src/conversation/message.js';
import { IrreducibleError } from '../../src/engines/contract.js';
import { ScriptedEngine, scriptedEngine } from '../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  type HostedOptions,
  hosted,
  lastSent,
  until,
} from '../support/hosted.js';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { simulator } from '../support/simulator.js';
import { CHAT, startStub } from '../support/upstream-stub.js';

const resets: string[] = [];

class Resetting extends ScriptedEngine {
  id = '';
  override onSessionStart(id: string): void {
    this.id = id;
  }
  override onSessionReset(): void {
    resets.push(this.id);
  }
  override selectContext(): undefined {}
}

const TALK = dialogue(4, 800);

async function start(more: Partial<HostedOptions> = {}) {
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, Resetting);
  const proxy = await hosted({ stub, engine, file: { sessions: { commands: true } }, ...more });
  return { stub, engine, proxy };
}

function post(proxy: TestProxy, messages: readonly Message[], more: object = {}) {
  return postChat(proxy.url, JSON.stringify({ model: 'm', max_tokens: 1000, messages, ...more }));
}

function ask(messages: readonly Message[], command: string): Message[] {
  return [...messages, { role: 'assistant', content: 'answer' }, { role: 'user', content: command }];
}

/** What the proxy said, as the client sends it back. */
async function said(response: Response): Promise<Message> {
  const answer = (await response.json()) as OpenAI.ChatCompletion;
  return { role: 'assistant', content: answer.choices[0]?.message.content ?? '' };
}

test('answers /compress itself: with what it came to, and later requests have neither in them', async () => {
  const { stub, engine, proxy } = await start();
  const asked = ask(TALK, '/compress the schema');
  const response = await post(proxy, asked);
  expect(told(response)).toMatchObject({ action: 'compressed', reason: 'command' });
  const before = Number(told(response)['original-prompt-tokens']);
  const after = Number(told(response)['prompt-tokens']);
  const answer = await said(response);
  expect(answer.content).toBe(`[incontext] Compressed from ${before} to ${after} tokens.`);
  expect(after).toBeLessThan(before);
  expect(engine.passes[0]?.options).toMatchObject({ focusTopic: 'the schema', force: true });
  expect(engine.passes[0]?.messages.map(({ content }) => content)).not.toContain('/compress the schema');
  expect(stub.at(CHAT)).toEqual([]);
  const next = await post(proxy, [...asked, answer, { role: 'user', content: 'And then?' }]);
  expect(told(next)).toMatchObject({ action: 'compressed', reason: 'checkpoint_reused' });
  const { messages } = lastSent(stub);
  expect(messages.at(-1)).toEqual({ role: 'user', content: 'And then?' });
  expect(JSON.stringify(messages)).not.toMatch(/\/compress|\[incontext\]/);
  expect(messages.length).toBeLessThan(TALK.length);
});

test.each(['/new', '/reset'])('answers %s, resets the engine, and begins behind it', async (command) => {
  resets.length = 0;
  const { stub, proxy } = await start();
  const first = await post(proxy, TALK);
  const asked = ask(TALK, command);
  const response = await post(proxy, asked);
  expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'command' });
  const answer = await said(response);
  expect(answer.content).toBe('[incontext] A new conversation begins here.');
  expect(resets).toEqual([told(first).conversation]);
  expect(stub.at(CHAT)).toHaveLength(1);
  const next = await post(proxy, [...asked, answer, { role: 'user', content: 'Hello' }]);
  expect(lastSent(stub).messages).toEqual([TALK[0], { role: 'user', content: 'Hello' }]);
  expect(told(next).conversation).not.toBe(told(first).conversation);
});

test.each([
  ['no answer', []],
  ['a text of its own as the answer', [{ role: 'assistant', content: 'Cleared.' }]],
])('keeps what a client has that stored %s behind its commands', async (_what, kept: Message[]) => {
  const { stub, proxy } = await start();
  const compressing = ask(TALK, '/compress');
  await (await post(proxy, compressing)).text();
  const more = [...compressing, ...kept, { role: 'user', content: 'And then?' }];
  expect(told(await post(proxy, more)).reason).toBe('checkpoint_reused');
  expect(stub.at(CHAT).at(-1)?.body.toString()).not.toMatch(/\/compress|Cleared/);
  const beginning = ask(more, '/new');
  await (await post(proxy, beginning)).text();
  await post(proxy, [...beginning, ...kept, { role: 'user', content: 'Hello' }]);
  expect(lastSent(stub).messages).toEqual([TALK[0], { role: 'user', content: 'Hello' }]);
});

test('answers in the shape of a chat completion, with no usage', async () => {
  const { proxy } = await start();
  const response = await post(proxy, ask(TALK, '/new'), { model: 'my-alias' });
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'my-alias',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: expect.stringMatching(/^\[incontext\] /), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
});

test('answers the official client, whole and in a stream', async () => {
  const { proxy } = await start();
  const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'key', maxRetries: 0 });
  const messages = ask(TALK, '/compress') as OpenAI.ChatCompletionMessageParam[];
  const whole = await client.chat.completions.create({ model: 'm', messages });
  expect(whole.choices[0]?.message.content).toMatch(/^\[incontext\] Compressed from \d+ to \d+ tokens\.$/);
  const options = { include_usage: true };
  const stream = client.chat.completions.stream({
    model: 'm',
    messages,
    stream: true,
    stream_options: options,
  });
  const final = await stream.finalChatCompletion();
  expect(final.choices[0]?.message.content).toMatch(/^\[incontext\] /);
  expect(final.choices[0]?.finish_reason).toBe('stop');
  expect(final.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
});

test('ends its stream as servers do, with usage only where it is asked for', async () => {
  const { proxy } = await start();
  const text = await (await post(proxy, ask(TALK, '/new'), { stream: true })).text();
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
  expect(text).not.toContain('usage');
});

test('says why nothing was compressed', async () => {
  const { engine, proxy } = await start();
  for (const [script, why] of [
    [new IrreducibleError(), 'there is nothing left that could go'],
    [new Error('secret'), 'the context engine failed'],
  ] as const) {
    engine.script = () => {
      throw script;
    };
    const answer = await said(await post(proxy, ask(TALK, '/compress')));
    expect(answer.content).toBe(`[incontext] Nothing was compressed: ${why}.`);
  }
  const empty = await said(await post(proxy, [TALK[0] as Message, { role: 'user', content: '/compress' }]));
  expect(empty.content).toBe('[incontext] Nothing was compressed: there is nothing to compress.');
});

test('says that there is no engine where there is none', async () => {
  const stub = await countingStub();
  const file = JSON.stringify({ sessions: { commands: true } });
  const proxy = await startProxy({ upstream: stub.url, config: 'test.yaml' }, { file });
  const response = await post(proxy, ask(TALK, '/compress'));
  expect((await said(response)).content).toBe(
    '[incontext] There is no context engine here: nothing was done.',
  );
  await proxy.close();
});

test('waits with a streaming client for a long compression, and then answers in the same stream', async () => {
  const { engine, proxy } = await start({ waitingTimes: { graceMs: 20, everyMs: 20 } });
  const { script } = engine;
  engine.script = async (...given) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    return await script(...given);
  };
  const response = await post(proxy, ask(TALK, '/compress'), { stream: true });
  expect(told(response)).toEqual({ action: 'pending' });
  const text = await response.text();
  expect(text).toMatch(/^: incontext compressing\n\n[\s\S]*: incontext action=compressed reason=command/);
  expect(text).toMatch(/\[incontext\] Compressed from \d+ to \d+ tokens[\s\S]*\[DONE\]\n\n$/);
});

test('ends a pass that a person asked for when the client goes', async () => {
  const { engine, proxy } = await start();
  engine.script = () => new Promise(() => {});
  const gone = new AbortController();
  const body = JSON.stringify({ model: 'm', messages: ask(TALK, '/compress') });
  const sent = postChat(proxy.url, body, {}, { signal: gone.signal });
  await until(() => engine.passes.length === 1);
  gone.abort();
  await expect(sent).rejects.toThrow();
  await until(() => engine.passes[0]?.options.signal?.aborted === true);
  await until(() => proxy.logged.some(({ outcome }) => outcome === 'client_abort'));
});

test('never lets an engine fail a reset', async () => {
  class Broken extends Resetting {
    override onSessionReset(): void {
      throw new Error('secret');
    }
  }
  const { proxy } = await start({ engine: scriptedEngine(undefined, Broken) });
  await post(proxy, TALK);
  expect((await post(proxy, ask(TALK, '/new'))).status).toBe(200);
  expect(proxy.logged).toContainEqual(expect.objectContaining({ hook: 'onSessionReset', type: 'Error' }));
});

test('counts and caps what is left without them', async () => {
  const { stub, proxy } = await start();
  const plain = await post(proxy, goOn(TALK));
  const sent = lastSent(stub).body;
  const pair = [
    { role: 'user', content: '/compress' },
    { role: 'assistant', content: '[incontext] Nothing was compressed: there is nothing to compress.' },
  ];
  const [answer, question] = goOn(TALK).slice(-2) as [Message, Message];
  const cut = await post(proxy, [...TALK, answer, ...pair, question]);
  expect(told(cut)).toEqual(told(plain));
  expect(lastSent(stub).body.toString()).toBe(sent.toString());
});

test('with commands off such texts are a user’s words, and pass byte for byte', async () => {
  const stub = await startStub({ count: 100 });
  const proxy = await startProxy({ upstream: stub.url });
  const messages = [
    ...ask(TALK, '/new'),
    { role: 'assistant', content: '[incontext] Done.' },
    { role: 'user', content: '/reset' },
  ];
  const body = JSON.stringify({ model: 'm', max_tokens: 1000, messages });
  expect(told(await postChat(proxy.url, body)).reason).toBe('fits');
  expect(stub.only(CHAT).body.toString()).toBe(body);
  await proxy.close();
  await stub.close();
});

test('compresses with the bundled engine in front of a simulated vLLM, and the conversation goes on', async () => {
  const upstream = await simulator({ models: [{ id: 'm', maxModelLen: 4096 }] });
  onTestFinished(() => upstream.close());
  const file = JSON.stringify({ sessions: { commands: true }, compression: { protect_last_n: 2 } });
  const flags = { upstream: upstream.url, engine: 'compressor', data: folder(), config: 'test.yaml' };
  const proxy = await startProxy(flags, { file });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  const talk: Message[] = [{ role: 'system', content: 'You help.' }];
  for (let turn = 1; turn < 30; turn += 1) {
    talk.push({
      role: 'user',
      content: `Question ${turn}: how does the reader of file number ${turn} begin?`,
    });
    talk.push({
      role: 'assistant',
      content: `It opens src/reader-${turn}.ts and reads ${turn * 7} lines of it.`,
    });
  }
  const asked: Message[] = [...talk, { role: 'user', content: '/compress' }];
  const answer = await said(await post(proxy, asked));
  const [, before, after] =
    /^\[incontext\] Compressed from (\d+) to (\d+) tokens\.$/.exec(String(answer.content)) ?? [];
  expect(Number(after)).toBeLessThan(Number(before) * 0.7);
  const next = await post(proxy, [...asked, answer, { role: 'user', content: '!sim {"text":"good"}' }]);
  expect((await said(next)).content).toBe('good');
  expect(told(next).reason).toBe('checkpoint_reused');
});

test('counts no token as sent for a command', async () => {
  const { proxy } = await start();
  const response = await post(proxy, ask(TALK, '/compress'));
  expect(told(response)['max-tokens']).toBeUndefined();
  const metrics = await (await fetch(`${proxy.url}/incontext/metrics`)).text();
  expect(metrics).toContain('incontext_decisions_total{action="compressed",reason="command"} 1');
  expect(metrics).not.toContain('incontext_prompt_tokens_count{stage="sent"}');
});

test('writes down of a command that it was one, and not a word of it', async () => {
  const { proxy } = await start();
  await (await post(proxy, ask(TALK, '/compress unmistakable'))).text();
  const line = () => proxy.logged.find(({ msg }) => msg === 'exchange');
  await until(() => line() !== undefined);
  expect(line()).toMatchObject({ action: 'compressed', reason: 'command', status: 200, outcome: 'complete' });
  expect(JSON.stringify(proxy.logged)).not.toContain('unmistakable');
});
