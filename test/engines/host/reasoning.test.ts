import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { countingStub, folder, messagesText, SYSTEM, send } from '../../support/hosted.js';
import { startProxy } from '../../support/proxy.js';
import { CHAT, json } from '../../support/upstream-stub.js';

const prose = (of: string) => `${of} ${'and so on '.repeat(12)}`;

/** A call of a model that thinks; servers refuse it without its thoughts. */
function thoughtfulCall(turn: number, member: string): Message[] {
  const id = `call_${turn % 2}`;
  const call = { id, type: 'function', function: { name: 'look', arguments: `{"turn": ${turn}.0}` } };
  return [
    { role: 'assistant', content: null, [member]: prose(`I have to look at ${turn}`), tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: prose(`Seen ${turn}`) },
  ];
}

test.each(['reasoning_content', 'reasoning'])(
  'calls that stay keep their %s, in the bytes of the client, through passes and on checkpoints (openclaw/openclaw#70996)',
  async (member) => {
    const message = { role: 'assistant', content: '## Goal\nGo on as before.' };
    const stub = await countingStub({
      routes: {
        [`POST ${CHAT}`]: (_request, response) =>
          json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }),
      },
    });
    const file = JSON.stringify({ compression: { prepare: 0 } });
    const flags = { upstream: stub.url, engine: 'compressor', data: folder(), config: 'test.yaml' };
    const proxy = await startProxy(flags, { file });
    onTestFinished(() => proxy.close());
    await proxy.ready();
    const reasons: string[] = [];
    let calls = 0;
    let messages: Message[] = [SYSTEM];
    for (let turn = 0; turn < 40; turn += 1) {
      messages = [
        ...messages,
        { role: 'user', content: prose(`Question ${turn}`) },
        ...thoughtfulCall(turn, member),
      ];
      const sent = await send(proxy, stub, messages);
      reasons.push(String(sent.told.reason));
      const client = new Set(messages.map((one) => JSON.stringify(one)));
      for (const one of sent.messages.filter(({ tool_calls: asked }) => asked !== undefined)) {
        calls += 1;
        expect(client).toContain(JSON.stringify(one));
        expect(messagesText(sent.body)).toContain(JSON.stringify(one));
      }
      expect(sent.messages.slice(-3)).toEqual(messages.slice(-3));
      messages = [...messages, { role: 'assistant', content: prose(`Answer ${turn}`) }];
    }
    expect(reasons.filter((reason) => reason === 'compression_due').length).toBeGreaterThan(1);
    expect(reasons).toContain('checkpoint_reused');
    expect(calls).toBeGreaterThan(100);
  },
);
