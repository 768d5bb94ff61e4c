import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkedPath, type Page, pagePaths, readPage } from '../docs/support/markdown.js';
import { Consumers } from './support/installed.js';
import { runOk } from './support/run.js';

const consumers = new Consumers();
let folder: string;
let pages: Map<string, Page>;

beforeAll(async () => {
  await consumers.pack();
  folder = join(consumers.archive, '../unpacked');
  mkdirSync(folder);
  await runOk(['tar', '-xzf', consumers.archive, '--strip-components', '1'], { cwd: folder });
  const paths = [...pagePaths(folder), 'CONTRIBUTING.md', 'CHANGELOG.md'];
  pages = new Map(paths.map((path) => [path, readPage(path, folder)]));
});

afterAll(() => consumers.remove());

/** Links out of a page of the archive, but for those to other machines. */
function* localLinks(): Generator<{ from: string; path: string; anchor: string | undefined }> {
  for (const page of pages.values()) {
    for (const { target } of page.links.filter((link) => !/^https?:/.test(link.target))) {
      yield { from: page.path, path: linkedPath(page, target), anchor: target.split('#')[1] };
    }
  }
}

test('every page of docs is in the archive', () => {
  expect([...pages.keys()]).toEqual([...pagePaths(), 'CONTRIBUTING.md', 'CHANGELOG.md']);
});

test('every link of a page leads to something in the archive', () => {
  const links = [...localLinks()];
  expect(links.length).toBeGreaterThan(25);
  expect(links.filter(({ path }) => !existsSync(join(folder, path)))).toEqual([]);
});

test('every link to a heading leads to one', () => {
  const headings = (path: string) => pages.get(path)?.headings.map(({ anchor }) => anchor) ?? [];
  const links = [...localLinks()].filter(({ anchor }) => anchor !== undefined);
  expect(links.filter(({ path, anchor }) => !headings(path).includes(anchor ?? ''))).toEqual([]);
});
