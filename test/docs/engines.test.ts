import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BOOKKEEPING } from '../../src/conversation/message.js';
import { ContextEngine } from '../../src/engines/contract.js';
import { inertServices } from '../../src/engines/inert-services.js';
import { ROOT, readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/engines.md');

class Least extends ContextEngine {
  override readonly name = 'least';
  override compress() {
    return [];
  }
}

/** The first column, without what stands in brackets. */
function named(heading: string): string[] {
  return tableRows(page, heading).flatMap(([first = '']) =>
    first.split(', ').flatMap((each) => /^\w+/.exec(each)?.[0] ?? []),
  );
}

test('shows the example as it is, in at most 60 lines', () => {
  const example = readFileSync(join(ROOT, 'examples/engine/index.js'), 'utf8');
  const shown = page.blocks.find(({ language }) => language === 'js');
  expect(`${shown?.text}\n`).toBe(example);
  expect(example.split('\n').length - 1).toBeLessThanOrEqual(60);
});

test('has every member of the contract in its table, and no other', () => {
  const methods = Object.getOwnPropertyNames(ContextEngine.prototype).filter(
    (name) => name !== 'constructor',
  );
  const expected = new Set([...Object.keys(new Least()), 'compress', 'cloneForAgent', ...methods]);
  const members = tableRows(page, 'The contract').flatMap(([first = '']) =>
    (first.includes('(') ? [first] : first.split(', ')).map((each) => /^\w+/.exec(each)?.[0]),
  );
  expect(members.toSorted()).toEqual([...expected].toSorted());
});

test('has every service and every private member of a message in a table', () => {
  expect(named('Services').toSorted()).toEqual(
    expect.arrayContaining(Object.keys(inertServices()).toSorted()),
  );
  expect(named('Messages').toSorted()).toEqual([...BOOKKEEPING].toSorted());
});
