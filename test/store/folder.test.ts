import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/store/conversation-store.js';
import { neverCollected } from '../../src/store/never-collected.js';
import { openConversationStore } from '../../src/store/open-conversation-store.js';
import { FILE_NAME, openDatabase } from '../../src/store/open-database.js';
import { MIGRATIONS, migrate } from '../../src/store/schema.js';
import { chain, commitOf, conversation, freshFolder, inProcess, query } from './support/material.js';

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('makes the folder and its files for the user alone, whatever the umask', async () => {
  const umask = process.umask(0);
  try {
    const folder = join(freshFolder(), 'deep');
    const store = inProcess(folder);
    await store.commit(commitOf(conversation('a'), []));
    expect(mode(folder)).toBe('700');
    expect(mode(dirname(folder))).toBe('700');
    const files = readdirSync(folder);
    expect(files.toSorted()).toEqual([FILE_NAME, `${FILE_NAME}-shm`, `${FILE_NAME}-wal`]);
    expect(files.map((name) => mode(join(folder, name)))).toEqual(['600', '600', '600']);
    await store.close();
  } finally {
    process.umask(umask);
  }
});

test('takes away from files that others could read their right to', () => {
  const folder = freshFolder();
  mkdirSync(folder, { mode: 0o755 });
  const other = openDatabase(folder);
  const files = ['', '-shm', '-wal'].map((end) => join(folder, `${FILE_NAME}${end}`));
  for (const file of files) chmodSync(file, 0o644);
  openDatabase(folder).close();
  expect(files.map(mode)).toEqual(['600', '600', '600']);
  expect(mode(folder)).toBe('755');
  other.close();
});

describe('says what is wrong, before the proxy starts, with', () => {
  const refusal = async (folder: string): Promise<string> => {
    const error: unknown = await openConversationStore({ folder }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    return (error as Error).message;
  };

  test('a folder that cannot be made', async () => {
    const parent = freshFolder();
    writeFileSync(parent, '');
    const said = await refusal(join(parent, 'data'));
    expect(said).toContain(`cannot write to the data folder ${parent}/data (`);
    // ENOTDIR, or from Node 22.20 on EEXIST.
    expect(said).toMatch(/\((ENOTDIR|EEXIST)\)$/);
  });

  test.runIf(process.platform === 'linux')('a place where no folder can be, however deep', async () => {
    expect(await refusal('/proc/incontext')).toBe('cannot write to the data folder /proc/incontext (ENOENT)');
    expect(await refusal('/proc/incontext/data')).toBe(
      'cannot write to the data folder /proc/incontext/data (ENOENT)',
    );
  });

  test('a file that is no database', async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, FILE_NAME), 'not a database '.repeat(500));
    expect(await refusal(folder)).toBe(
      `the store is damaged (SQLITE_NOTADB); move it away to start anew: ${join(folder, FILE_NAME)}`,
    );
  });

  test('a database of another program', async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    neverCollected(new Sqlite(join(folder, FILE_NAME)))
      .exec('CREATE TABLE theirs (x)')
      .close();
    expect(await refusal(folder)).toMatch(/^the store is a database of another program: /);
  });

  test('a store of a newer version, which it leaves as it is', async () => {
    const folder = freshFolder();
    const db = openDatabase(folder);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    db.close();
    expect(await refusal(folder)).toMatch(
      /^the store was written by a newer version \(schema 2, this one knows 1\): /,
    );
    const after = neverCollected(new Sqlite(join(folder, FILE_NAME)));
    expect(after.prepare('PRAGMA user_version').pluck().get()).toBe(2);
    after.close();
  });
});

describe('a store of an older version', () => {
  const ADDITION = `ALTER TABLE conversation ADD COLUMN title TEXT NOT NULL DEFAULT 'none'`;
  const owner = conversation('a');
  const path = chain(owner, ['m0', 'm1']);

  test('is brought up to date, with its data, once', async () => {
    const folder = freshFolder();
    const before = inProcess(folder);
    await before.commit(commitOf(owner, path));
    await before.close();
    const db = neverCollected(new Sqlite(join(folder, FILE_NAME)));
    for (const _ of ['first start', 'second start']) migrate(db, [...MIGRATIONS, ADDITION]);
    expect(db.prepare('PRAGMA user_version').pluck().get()).toBe(MIGRATIONS.length + 1);
    expect(db.prepare('SELECT title FROM conversation').all()).toEqual([{ title: 'none' }]);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.close();
    const after = inProcess(folder);
    expect((await after.loadPath(query(path))).nodes).toEqual(path);
    await after.close();
  });

  test('stays whole where a step fails', () => {
    const db = openDatabase(':memory:');
    expect(() => migrate(db, [...MIGRATIONS, ADDITION, 'CREATE TABLE broken'])).toThrow();
    expect(db.prepare('PRAGMA user_version').pluck().get()).toBe(MIGRATIONS.length);
    expect(db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all('conversation')).not.toContain(
      'title',
    );
  });
});
