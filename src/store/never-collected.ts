import type { Database } from 'better-sqlite3';

/**
 * From Node.js 24.19 on, the process aborts where one of better-sqlite3's objects is collected outside of JavaScript
 * (WiseLibs/better-sqlite3#1515). A thread opens one database and prepares each statement once: all are kept to its end.
 */
const kept: unknown[] = [];

/** The database, and every statement that it prepares from here on. `pragma` makes statements of its own: use `exec`. */
export function neverCollected(db: Database): Database {
  const prepare = db.prepare.bind(db);
  const preparing = (source: string): unknown => {
    const statement = prepare(source);
    kept.push(statement);
    return statement;
  };
  db.prepare = preparing as Database['prepare'];
  kept.push(db);
  return db;
}
