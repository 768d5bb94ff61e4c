import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { StoreError } from './conversation-store.js';
import { neverCollected } from './never-collected.js';
import { migrate } from './schema.js';
import { failureCode } from './store-failure.js';

export const IN_MEMORY = ':memory:';
export const FILE_NAME = 'conversations.sqlite';

/** How long a statement waits for another process that writes. */
const BUSY_MS = 5000;

/** Holds the indices of some 200,000 messages: hashes come from everywhere in them. */
const CACHE_KIB = 32 * 1024;

/** 16 MiB: the disk is waited for when the log is carried over, not with every commit. */
const WAL_PAGES = 4000;

/**
 * Opens the database of a folder, made where it is missing.
 *
 * `synchronous = NORMAL`: what was committed survives the end of the process however it comes, `SIGKILL` too, since the
 * operating system has it. A power failure can lose the last commits, never damage the file; a client resends its whole
 * history, so that costs one more compression.
 *
 * @throws StoreError that says what to do about it.
 */
export function openDatabase(folder: string): Database {
  const file = folder === IN_MEMORY ? folder : prepareFile(folder);
  let db: Database | undefined;
  try {
    db = neverCollected(new Sqlite(file, { timeout: BUSY_MS }));
    inWalMode(db);
    db.exec('PRAGMA synchronous = NORMAL');
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    db.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
    db.exec('PRAGMA foreign_keys = ON');
    migrate(db);
    return db;
  } catch (error) {
    db?.close();
    throw explained(error, file);
  }
}

/** SQLite gives `-wal` and `-shm` the mode of the database, so that one has to be private from its first moment. */
function prepareFile(folder: string): string {
  const file = join(folder, FILE_NAME);
  try {
    makeFolder(folder);
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new StoreError(`cannot write to the data folder ${folder} (${failureCode(error)})`);
  }
  for (const path of [file, `${file}-wal`, `${file}-shm`]) makePrivate(path);
  return file;
}

/** Not `recursive`: with that Node.js 20 never returns where the parent is there and takes no folder, as `/proc`. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (failureCode(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}

function makePrivate(path: string): void {
  try {
    if (existsSync(path)) chmodSync(path, 0o600);
  } catch {
    // Another user's file that we may use: its mode is that user's business.
  }
}

/** Two processes that turn a new file to WAL at once: SQLite tells one of them "busy" without waiting. */
function inWalMode(db: Database): void {
  const until = Date.now() + BUSY_MS;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (failureCode(error) !== 'SQLITE_BUSY' || Date.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function explained(error: unknown, file: string): StoreError {
  const code = failureCode(error);
  if (error instanceof StoreError) return new StoreError(`${error.message}: ${file}`);
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return new StoreError(`the store is damaged (${code}); move it away to start anew: ${file}`);
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM|FULL)/.test(code))
    return new StoreError(`cannot write to the store (${code}): ${file}`);
  if (code === 'ERR_DLOPEN_FAILED' || (error instanceof Error && /bindings file/.test(error.message)))
    return new StoreError(
      'better-sqlite3 lacks its compiled part for this Node.js: npm rebuild better-sqlite3 (with --global where it is installed globally)',
    );
  return new StoreError(`cannot open the store (${code}): ${file}`);
}
