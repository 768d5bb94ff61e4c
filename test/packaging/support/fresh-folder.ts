import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A new folder. No folder above it has packages, which Node would find from it. */
export function freshFolder(): string {
  const parent = [tmpdir(), '/var/tmp', homedir()].find((each) => !above(each).some(hasPackages));
  if (parent === undefined) throw new Error('every temporary folder is below a node_modules folder');
  return mkdtempSync(join(parent, 'incontext-packaging-'));
}

function above(path: string): string[] {
  return dirname(path) === path ? [path] : [path, ...above(dirname(path))];
}

function hasPackages(path: string): boolean {
  const folder = join(path, 'node_modules');
  return existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith('.'));
}
