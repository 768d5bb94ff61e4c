// Writes a hidden round, deletes a conversation and then all of a certain age, and says so on standard output.
// removing-child.mjs FOLDER {kept, visible, rowBytes, rows, removed, age} KILL_AT KILL_AFTER_MICROSECONDS
import { writeSync } from 'node:fs';
import { openConversationStore } from '../../../dist/store/open-conversation-store.js';
import { sent } from './killing.mjs';

const [folder, what] = process.argv.slice(2);
const { kept, visible, rowBytes, rows, removed, age } = JSON.parse(what);
const row = { bytes: Buffer.alloc(rowBytes, 'r'), uid: '0'.repeat(32), absorbed: [] };

const store = await sent(openConversationStore({ folder }));
await sent(store.saveHiddenRound('t', kept, { visible, rows: Array(rows).fill(row) }));
writeSync(1, 'round\n');
await sent(store.deleteConversation(removed));
writeSync(1, 'removed\n');
await sent(store.deleteOlderThan(age));
writeSync(1, 'aged\n');
await sent(store.close());
writeSync(1, 'closed\n');
