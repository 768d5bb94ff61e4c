import { expect } from 'vitest';
import type { Block } from './markdown.js';

/** Expects what a page shows below a command: lines in this order, `...` for anything; JSON as a part of it. */
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
    const pattern = new RegExp(line.split('...').map(escaped).join('.*'));
    const isComplaint = line.startsWith('curl:');
    const at = all.findIndex((each, index) => (isComplaint || index >= from) && pattern.test(each));
    if (at < 0) expect(seen, `a line "${line}"`).toContain(line);
    if (!isComplaint) from = at + 1;
  }
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
