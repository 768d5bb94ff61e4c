import { spawn } from 'node:child_process';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { openConversationStore } from '../../src/store/open-conversation-store.js';
import { serveStore } from '../../src/store/serve-store.js';
import { type AnswerMessage, type CallMessage, OPENED } from '../../src/store/store-calls.js';
import { commitOf, conversation, freshFolder } from './support/material.js';

const ports: MessagePort[] = [];

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** The other end of a served store, and what came through it so far. */
function served(folder: string) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const answers: AnswerMessage[] = [];
  port1.on('message', (answer: AnswerMessage) => answers.push(answer));
  serveStore(port2, folder);
  const ask = (id: number, method: CallMessage['method'], ...args: unknown[]) =>
    port1.postMessage({ id, method, args } satisfies CallMessage);
  return { ask, answers, ended: new Promise((resolve) => port1.once('close', resolve)) };
}

test('answers calls in their order, failed ones too, and ends at close', async () => {
  const { ask, answers, ended } = served(':memory:');
  ask(1, 'hasCheckpoints', 't');
  ask(2, 'saveHiddenRound', 't', 'none', { visible: 'v', rows: { bytes: new Uint8Array(), meta: '[]' } });
  ask(3, 'secret', 'a');
  ask(4, 'close');
  await ended;
  expect(answers).toEqual([
    { id: OPENED, value: undefined },
    { id: 1, value: false },
    { id: 2, error: 'the store failed: SQLITE_CONSTRAINT_FOREIGNKEY' },
    { id: 3, value: expect.any(Uint8Array) },
    { id: 4, value: undefined },
  ]);
});

test('says why it cannot be opened, and ends', async () => {
  const { answers, ended } = served('/dev/null/data');
  await ended;
  expect(answers).toEqual([
    { id: OPENED, error: expect.stringContaining('cannot write to the data folder') },
  ]);
});

test('an open store that nobody asks keeps no process alive; a commit that is under way does', async () => {
  const folder = freshFolder();
  const program = `
    import { openConversationStore } from './dist/store/open-conversation-store.js';
    const store = await openConversationStore({ folder: ${JSON.stringify(folder)} });
    void store.commit(${JSON.stringify(commitOf(conversation('a'), []))}).then(() => console.log('committed'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'pipe' });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  expect(output).toBe('committed\n');
  const store = await openConversationStore({ folder });
  expect(await store.listConversations()).toHaveLength(1);
  await store.close();
});
