// Holds a database's lock for writing until its standard input ends. lock-child.mjs FILE
import { writeSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

const db = new Sqlite(process.argv[2], { timeout: 5000 });
db.exec('BEGIN EXCLUSIVE');
writeSync(1, 'locked\n');
process.stdin.resume().once('end', () => {
  db.exec('COMMIT');
  db.close();
});
