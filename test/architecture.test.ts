import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

/** Rooms from the lowest upwards: a room may import rooms of its own row and of rows before it. */
const ROWS = [
  ['config', 'version.ts'],
  ['budget', 'body', 'estimate', 'store', 'plugins'],
  ['observe', 'engines', 'backends', 'conversation', 'chat-form', 'stream', 'upstream'],
  ['exchange'],
  ['server'],
  ['simulator', 'cli', 'testing'],
  ['demo'],
  ['commands'],
  ['cli.ts', 'index.ts'],
];
const ALONE = ['budget', 'body', 'estimate'];

interface Import {
  readonly from: string;
  readonly fromRoom: string;
  readonly toRoom: string;
}

const imports: Import[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(SRC, name), 'utf8');
    return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path]) => ({
      from: name,
      fromRoom: roomOf(name),
      toRoom: roomOf(relative(SRC, resolve(SRC, dirname(name), path as string)).replace(/\.js$/, '.ts')),
    }));
  })
  .filter(({ fromRoom, toRoom }) => fromRoom !== toRoom);

/** The folder below src; a file that stands alone is a room of its own. */
function roomOf(path: string): string {
  return path.split('/')[0] as string;
}

function rowOf(room: string): number {
  const row = ROWS.findIndex((rooms) => rooms.includes(room));
  if (row < 0) throw new Error(`src/${room} has no row`);
  return row;
}

test('imports point downwards', () => {
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter(({ fromRoom, toRoom }) => rowOf(toRoom) > rowOf(fromRoom))).toEqual([]);
});

test('nothing but the server and the commands imports server or exchange', () => {
  const inner = imports.filter(({ toRoom }) => toRoom === 'server' || toRoom === 'exchange');
  expect(inner.filter(({ fromRoom }) => rowOf(fromRoom) < rowOf('server'))).toEqual([]);
});

test('budget, body and estimate import nothing of ours', () => {
  expect(imports.filter(({ fromRoom }) => ALONE.includes(fromRoom))).toEqual([]);
});

test('rooms of one row do not import each other in a circle', () => {
  const edges = new Map<string, Set<string>>();
  for (const { fromRoom, toRoom } of imports) {
    if (rowOf(fromRoom) === rowOf(toRoom))
      edges.set(fromRoom, (edges.get(fromRoom) ?? new Set()).add(toRoom));
  }
  const reaches = (room: string, goal: string, seen = new Set<string>()): boolean =>
    [...(edges.get(room) ?? [])].some((next) => {
      if (next === goal) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, goal, seen);
    });
  expect([...edges.keys()].filter((room) => reaches(room, room))).toEqual([]);
});
