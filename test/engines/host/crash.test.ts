import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { countingStub, dialogue, folder, goOn, lastSent, messagesText } from '../../support/hosted.js';
import { proxyProcess } from '../../support/killed.js';
import { postChat, told } from '../../support/proxy.js';
import { CHAT } from '../../support/upstream-stub.js';

async function post(address: string, messages: readonly Message[]) {
  const response = await postChat(address, JSON.stringify({ messages, model: 'm', max_tokens: 1000 }));
  await response.arrayBuffer();
  return told(response);
}

test('a conversation goes on with the same bytes after the process was killed', async () => {
  const stub = await countingStub();
  const data = folder();
  const before = await proxyProcess(stub.url, data);
  const messages = dialogue(4, 3000);
  const first = await post(before.address, messages);
  expect(first.reason).toBe('compression_due');
  const prefix = messagesText(lastSent(stub).body);
  await before.kill();
  const after = await proxyProcess(stub.url, data);
  const next = await post(after.address, goOn(messages));
  expect(next).toMatchObject({ reason: 'checkpoint_reused', conversation: first.conversation });
  expect(messagesText(lastSent(stub).body).startsWith(`${prefix},`)).toBe(true);
});

test('what was compressed is written down before it is sent: killed in between, the same bytes come back', async () => {
  const stub = await countingStub();
  const data = folder();
  const before = await proxyProcess(stub.url, data);
  stub.set({
    routes: {
      [`POST ${CHAT}`]: () => {
        before.child.kill('SIGKILL');
      },
    },
  });
  const messages = dialogue(4, 3000);
  await expect(post(before.address, messages)).rejects.toThrow();
  await before.ended;
  const sent = messagesText(lastSent(stub).body);
  expect(sent).toContain(`summary ${before.child.pid} of 6 messages`);
  stub.set({ routes: {} });
  const after = await proxyProcess(stub.url, data);
  expect((await post(after.address, messages)).reason).toBe('checkpoint_reused');
  expect(messagesText(lastSent(stub).body)).toBe(sent);
  await post(after.address, goOn(messages));
  expect(messagesText(lastSent(stub).body).startsWith(`${sent},`)).toBe(true);
});
