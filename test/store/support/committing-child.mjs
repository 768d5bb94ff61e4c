// Commits numbered exchanges to a folder, each message of which is announced on standard output.
// committing-child.mjs FOLDER NAME COUNT KILL_AT KILL_AFTER_MICROSECONDS
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openConversationStore } from '../../../dist/store/open-conversation-store.js';
import { sent } from './killing.mjs';

const [folder, name, count] = process.argv.slice(2);
const NODES = 60;
const ROW = Buffer.alloc(2000, 'r');

const hash = (...parts) => createHash('sha256').update(parts.join(' ')).digest('base64url');

function exchange(number) {
  const id = hash(name).slice(0, 32);
  const nodes = Array.from({ length: NODES }, (_, place) => {
    const depth = number * NODES + place;
    return {
      hash: hash(name, depth),
      parent: depth === 0 ? undefined : hash(name, depth - 1),
      content: hash('m', depth),
      depth,
      conversation: id,
      uid: '0'.repeat(32),
      absorbed: [],
      toolCallUids: undefined,
      toolCallUid: undefined,
    };
  });
  const row = { bytes: ROW, uid: '0'.repeat(32), absorbed: [], mark: String(number) };
  return {
    tenant: 't',
    conversation: {
      id,
      tenant: 't',
      explicitId: undefined,
      created: 1,
      lastSeen: 1,
      messages: number + 1,
      promptTokens: 1,
      window: 1,
      compressions: 1,
    },
    nodes,
    checkpoint: {
      end: nodes.at(-1).hash,
      model: 'model-a',
      engine: 'compressor',
      conversation: id,
      messages: (number + 1) * NODES,
      rows: Array.from({ length: 50 }, () => row),
      tokensBefore: 1,
      tokensAfter: 1,
      created: 1,
    },
    engineState: new Map([['exchange', String(number)]]),
  };
}

const store = await sent(openConversationStore({ folder }));
const secret = await sent(store.secret('tenants'));
writeSync(1, `secret ${secret.toString('hex')}\n`);
for (let number = 0; number < Number(count); number += 1) {
  await sent(store.commit(exchange(number)));
  writeSync(1, `committed ${number}\n`);
}
await sent(store.close());
writeSync(1, 'closed\n');
