import { expect } from 'vitest';
import type { Block } from './markdown.js';

const ABOUT = 0.25;

/**
 * Expects what a page shows below a command: lines in this order, `...` for anything, `≈100` for a number that is about
 * as large; JSON as a part of it.
 */
export function expectShown(seen: string, { language, text }: Block): void {
  if (language === 'json') expectJson(seen, JSON.parse(text));
  else expectLines(seen, text);
}

/** Of lines that curl writes on standard error the order is not fixed. */
function expectLines(seen: string, text: string): void {
  const all = seen.split('\n').map(squeeze);
  let from = 0;
  for (const line of text.split('\n').map(squeeze)) {
    if (line === '' || line === '...') continue;
    const isComplaint = line.startsWith('curl:');
    const at = all.findIndex((each, index) => (isComplaint || index >= from) && isShownAs(each, line));
    if (at < 0) expect(seen, `a line "${line}"`).toContain(line);
    if (!isComplaint) from = at + 1;
  }
}

function isShownAs(seen: string, line: string): boolean {
  const pattern = line.split('...').map(escaped).join('.*').replace(/≈\d+/g, '(\\d+)');
  const found = new RegExp(pattern).exec(seen);
  const about = [...line.matchAll(/≈(\d+)/g)].map(([, number]) => Number(number));
  return (
    found !== null &&
    about.every((number, index) => Math.abs(Number(found[index + 1]) - number) <= number * ABOUT)
  );
}

function expectJson(seen: string, shown: unknown): void {
  const body = seen.replace(/^HTTP\/[\s\S]*?\r?\n\r?\n/, '');
  const start = body.search(/[[{]/);
  expect(start, `JSON in: ${seen}`).toBeGreaterThanOrEqual(0);
  expect(JSON.parse(body.slice(start))).toMatchObject(shown as object);
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, ' ').trim();
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
