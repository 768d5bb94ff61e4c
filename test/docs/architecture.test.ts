import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/architecture.md');

test('shows every room of src, and no other', () => {
  const rooms = tableRows(page, 'Rooms').map(([, room]) => room);
  expect(rooms.toSorted()).toEqual(readdirSync(join(ROOT, 'src')).toSorted());
});

test('shows a room below all that may import it', () => {
  const rows = tableRows(page, 'Rooms').map(([row]) => Number(row));
  expect(rows).toEqual(rows.toSorted((a, b) => b - a));
});

test('sends nobody to a file that is not there', () => {
  const text = page.lines.join('\n');
  const named = [...text.matchAll(/`(src\/[\w/.-]+|exchange\/[\w.]+)`/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThan(10);
  const missing = named.filter(
    (path) => !existsSync(join(ROOT, path.startsWith('src/') ? path : `src/${path}`)),
  );
  expect(missing).toEqual([]);
});
