import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linkedPath, type Page, pagePaths, ROOT, readPage } from './support/markdown.js';

const WIDTH = 120;
const pages = new Map(pagePaths().map((path) => [path, readPage(path)]));

function isBroken(page: Page, target: string): boolean {
  if (/^https?:\/\//.test(target)) return false;
  const path = linkedPath(page, target);
  const anchor = target.split('#')[1];
  if (anchor === undefined) return !existsSync(join(ROOT, path));
  return pages.get(path)?.headings.every((heading) => heading.anchor !== anchor) ?? true;
}

describe.each([...pages.values()])('$path', (page) => {
  test('links to pages and headings that exist', () => {
    const broken = page.links.filter(({ target }) => isBroken(page, target));
    expect(broken).toEqual([]);
  });

  test(`has no line of more than ${WIDTH} columns`, () => {
    expect(page.lines.filter((line) => Array.from(line).length > WIDTH)).toEqual([]);
  });

  test('has one title, and no heading twice', () => {
    expect(page.headings.filter(({ level }) => level === 1)).toHaveLength(1);
    const anchors = page.headings.map(({ anchor }) => anchor);
    expect(new Set(anchors).size).toBe(anchors.length);
  });
});

test('README leads to every page of docs', () => {
  const readme = pages.get('README.md') as Page;
  const reached = new Set(
    [readme, ...linked(readme)].flatMap((page) => [page, ...linked(page)]).map(({ path }) => path),
  );
  expect([...pages.keys()].filter((path) => !reached.has(path))).toEqual([]);
});

function linked(page: Page): Page[] {
  return page.links.flatMap(({ target }) => pages.get(linkedPath(page, target)) ?? []);
}
