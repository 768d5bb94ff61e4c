import { expect, test } from 'vitest';
import { registerBundledBackends } from '../../src/backends/bundled.js';
import { readPage, tableRows } from './support/markdown.js';

test('backends.md lists every bundled backend, and no other', () => {
  const names: string[] = [];
  registerBundledBackends({ register: (name) => void names.push(name) });
  const page = readPage('docs/backends.md');
  const listed = tableRows(page, 'Backends').filter((cells) => cells.length === 3);
  expect(listed.slice(0, names.length).map(([name]) => name)).toEqual(names);
});
