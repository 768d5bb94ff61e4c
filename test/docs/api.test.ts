import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as root from '../../src/index.js';
import { ROOT, readPage, tableRows } from './support/markdown.js';

const named = tableRows(readPage('docs/api.md'), 'What the package exports').map(([names = '']) =>
  names.split(', '),
);
const values = Object.keys(root);

test('api.md names every value that the package exports', () => {
  const missing = values.filter((name) => !named.flat().includes(name));
  expect(missing).toEqual([]);
});

test('api.md names nothing that the package does not export', () => {
  const source = readFileSync(join(ROOT, 'src/index.ts'), 'utf8');
  const types = [...source.matchAll(/export type \{([^}]+)\}|\btype (\w+)/g)].flatMap(
    ([, list, one = '']) => list?.split(',').map((name) => name.trim()) ?? [one],
  );
  expect(types.length).toBeGreaterThan(20);
  expect(named.flat().filter((name) => ![...values, ...types].includes(name))).toEqual([]);
});
