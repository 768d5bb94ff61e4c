import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { type Captured, captured, differences } from '../support/captured.js';
import { CHAT, promptOf } from '../support/chat.js';
import { describeServers, headersFor } from '../support/servers.js';

/** All of their messages just fit the context of 4096 tokens, so that the server can be asked directly too. */
const TURNS = 23;
const CAP = 48;
const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'measure',
      description: 'Measures how deep a well is',
      parameters: { type: 'object', properties: { well: { type: 'integer' } }, required: ['well'] },
    },
  },
];

/** What any model, even of random weights, can say in one way only. */
const saying = (text: string): object => ({
  structured_outputs: { regex: text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') },
});
const calling = (well: number): string =>
  `<tool_call>\n{"name": "measure", "arguments": {"well": ${well}}}\n</tool_call>`;
const depth = (well: number): string => `Well ${well} is ${well * 7 + 11} feet deep.`;
const measured = (well: number): string =>
  `${well * 7 + 11} feet to the ground, of which the upper part is walled with stone and the lower part is not. ` +
  `The water stood ${well + 3} feet high and was clear. The rope of the bucket was found to be worn, the wheel turns ` +
  `freely, and the lid is missing. Measured twice by two people on a dry day in autumn, with the same outcome. The owner ` +
  `asks that the lid be replaced before the winter, and that nobody draws from it until the rope is a new one.`;

const said = (message: OpenAI.ChatCompletionMessage | undefined): unknown => ({
  content: message?.content ?? '',
  calls: (message?.tool_calls ?? []).map((call) =>
    call.type === 'function' ? [call.function.name, call.function.arguments] : [],
  ),
});

describeServers('plain', (server) => {
  describe('an agent at work', () => {
    const data = mkdtempSync(join(tmpdir(), 'incontext-agent-'));
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url, engine: 'compressor', data });
      await proxy.ready();
    });
    afterAll(async () => {
      await proxy.close();
      rmSync(data, { recursive: true });
    });

    const clientOf = (url: string, answers: Captured[]): OpenAI =>
      new OpenAI({
        baseURL: `${url}/v1`,
        apiKey: 'none',
        maxRetries: 0,
        fetch: captured(answers),
      });

    test(`through ${TURNS} turns with a tool sees the same as without the proxy, until it is compressed`, {
      timeout: 900_000,
    }, async () => {
      const through: Captured[] = [];
      const direct: Captured[] = [];
      const clients = [clientOf(proxy.url, through), clientOf(server.url, direct)] as const;
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: 'system', content: 'You look after wells.' },
      ];

      const ask = async (client: OpenAI, text: string, streams: boolean) => {
        const request = { model: 'tiny', messages, tools: TOOLS, max_tokens: CAP, temperature: 0 };
        const body = { ...request, ...saying(text) };
        const answer = streams
          ? await client.chat.completions
              .stream({ ...body, stream_options: { include_usage: true } })
              .finalChatCompletion()
          : await client.chat.completions.create(body);
        return { message: answer.choices[0]?.message, usage: answer.usage };
      };
      const step = async (text: string, streams: boolean) => {
        const [ours, theirs] = [await ask(clients[0], text, streams), await ask(clients[1], text, streams)];
        const [answer, plain] = [through.at(-1), direct.at(-1)] as [Captured, Captured];
        const { action, 'prompt-tokens': sent, 'original-prompt-tokens': original } = answer.told;
        expect(ours.usage?.prompt_tokens).toBe(Number(sent));
        const isCompressed = action === 'compressed';
        if (!isCompressed) expect(theirs.usage).toEqual(ours.usage);
        expect(said(theirs.message)).toEqual(said(ours.message));
        expect(theirs.usage?.prompt_tokens).toBe(Number(original));
        expect(differences(answer, plain, { server, isCompressed })).toBe('');
        if (ours.message === undefined) throw new Error('no answer');
        messages.push(ours.message);
        return ours.message;
      };

      for (let turn = 0; turn < TURNS; turn += 1) {
        const streams = turn % 2 === 1;
        messages.push({ role: 'user', content: `How deep is well ${turn}?` });
        // What of a call 0.16 streams as content, and of its line ends as arguments, depends on the model's tokens.
        const called = await step(calling(turn), streams && server.version !== '0.16');
        expect(said(called)).toEqual({ content: '', calls: [['measure', `{"well": ${turn}}`]] });
        messages.push({
          role: 'tool',
          tool_call_id: called.tool_calls?.[0]?.id ?? '',
          content: measured(turn),
        });
        expect((await step(depth(turn), streams)).content).toBe(depth(turn));
      }

      const actions = through.map(({ told }) => told.action);
      expect(actions).toEqual(
        actions.toSorted((a, b) => Number(a === 'compressed') - Number(b === 'compressed')),
      );
      expect(actions.indexOf('compressed')).toBeGreaterThan(20);
      const listed = await (await fetch(`${proxy.url}/incontext/conversations`)).json();
      expect(listed).toMatchObject({ conversations: [{}] });
    });

    const user = [{ role: 'user', content: 'hi' }];
    test.each<[string, string]>([
      ['a model that is not there', JSON.stringify({ model: 'nope', messages: user, max_tokens: 8 })],
      ['a wrong type', JSON.stringify({ messages: user, max_tokens: 8, temperature: 'hot' })],
      ['no messages', JSON.stringify({ messages: [], max_tokens: 8 })],
      ['a role that is no text', JSON.stringify({ messages: [{ role: 1, content: 'hi' }], max_tokens: 8 })],
      [
        'options of a stream that is none',
        JSON.stringify({ messages: user, stream_options: { include_usage: true }, max_tokens: 8 }),
      ],
      ['what is no JSON', '{"messages": ['],
      ['a prompt that is too long', JSON.stringify({ messages: promptOf(5000), max_tokens: 8 })],
      [
        'one that is too long, streamed',
        JSON.stringify({ messages: promptOf(5000), max_tokens: 8, stream: true }),
      ],
      ['more choices than it gives', JSON.stringify({ messages: user, n: 0, max_tokens: 8 })],
    ])('is told the same of %s', async (_what, body) => {
      const answers: Captured[] = [];
      const post = captured(answers);
      for (const url of [proxy.url, server.url])
        await post(url + CHAT, { method: 'POST', headers: headersFor(server), body });
      const [ours, plain] = answers as [Captured, Captured];
      expect(plain.status).toBeGreaterThanOrEqual(400);
      expect(differences(ours, plain, { server, isCompressed: false })).toBe('');
    });
  });
});
