import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** A fenced block of a page. */
export interface Block {
  /** The language behind the fence, `''` without one. */
  readonly language: string;
  readonly text: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** The heading above. */
  readonly heading: string;
}

export interface Heading {
  readonly level: number;
  readonly text: string;
  /** As a link names it. */
  readonly anchor: string;
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly lines: readonly string[];
  readonly blocks: readonly Block[];
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
}

const FENCE = /^```(\S*)$/;

/** README.md, every page of docs/, and the READMEs of examples/; of the repository, or of what was made of it. */
export function pagePaths(root = ROOT): string[] {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`)
      .sort();
  return ['README.md', ...below('docs'), ...below('examples')];
}

/** @throws Error for a fence that is never closed. */
export function readPage(path: string, root = ROOT): Page {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const blocks: Block[] = [];
  const headings: Heading[] = [];
  const links: Link[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = lines.indexOf('```', at + 1);
      if (end < 0) throw new Error(`${path}:${at + 1}: a fence is not closed`);
      const text = lines.slice(at + 1, end).join('\n');
      blocks.push({ language: fence[1] ?? '', text, line: at + 1, heading: headings.at(-1)?.text ?? path });
      at = end;
      continue;
    }
    const heading = /^(#+) (.+)$/.exec(line);
    if (heading !== null) headings.push(headingOf(heading, at + 1, headings));
    for (const [, target] of withoutCode(line).matchAll(/\]\(([^)\s]+)\)/g)) {
      links.push({ target: target as string, line: at + 1 });
    }
  }
  return { path, lines, blocks, headings, links };
}

/** The rows of the tables below a heading, cells trimmed and without back quotes; heads left out. */
export function tableRows(page: Page, heading: string): string[][] {
  const at = page.headings.findIndex((each) => each.text === heading);
  const start = page.headings[at];
  if (start === undefined) throw new Error(`${page.path} has no heading "${heading}"`);
  const end =
    page.headings.slice(at + 1).find(({ level }) => level <= start.level)?.line ?? page.lines.length;
  const rows = page.lines.slice(start.line, end).filter((line) => line.startsWith('|'));
  const isRule = (line: string | undefined) => line !== undefined && /^[|\-: ]+$/.test(line);
  return rows.filter((line, index) => !isRule(line) && !isRule(rows[index + 1])).map(cells);
}

/** What a link of a page leads to, from the root of the repository; the page itself for a bare anchor. */
export function linkedPath(page: Page, target: string): string {
  const [path = ''] = target.split('#');
  return path === '' ? page.path : relative(ROOT, resolve(ROOT, dirname(page.path), path));
}

function cells(row: string): string[] {
  return row
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.replaceAll('`', '').trim());
}

function withoutCode(line: string): string {
  return line.replace(/`[^`]*`/g, '');
}

/** GitHub's anchors: lower case, punctuation gone, blanks as dashes, a number behind repeated ones. */
function headingOf(
  [, marks = '', text = '']: RegExpExecArray,
  line: number,
  before: readonly Heading[],
): Heading {
  const plain = text.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, '');
  const base = plain.replaceAll(' ', '-');
  const same = before.filter(({ anchor }) => anchor === base || anchor.startsWith(`${base}-`)).length;
  return {
    level: marks.length,
    text: text.replaceAll('`', ''),
    anchor: same === 0 ? base : `${base}-${same}`,
    line,
  };
}
