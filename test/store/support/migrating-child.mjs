// Brings a database up to date by two steps of its own, which copy and change all nodes; dies at the N-th `die`.
// migrating-child.mjs FILE DIE_AT
import { writeSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { neverCollected } from '../../../dist/store/never-collected.js';
import { MIGRATIONS, migrate } from '../../../dist/store/schema.js';

const [file, dieAt] = process.argv.slice(2);
const db = neverCollected(new Sqlite(file));
db.exec('PRAGMA journal_mode = WAL');
db.function('die', (at) => {
  if (at === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
  return at;
});
const steps = [
  `${MIGRATIONS.join(';')}; SELECT die(7)`,
  `SELECT die(1); CREATE TABLE copy (hash TEXT, content TEXT); SELECT die(2);
   INSERT INTO copy SELECT hash, content FROM node; SELECT die(3);
   UPDATE node SET content = 'moved'; SELECT die(4)`,
  `ALTER TABLE copy ADD COLUMN title TEXT NOT NULL DEFAULT 'none'; SELECT die(5)`,
];
migrate(db, steps);
db.prepare('SELECT die(6)').get();
db.close();
writeSync(1, 'closed\n');
