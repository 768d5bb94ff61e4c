import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE_NAME = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/;
/** What an `import` statement on Node looks for in `exports`. */
const CONDITIONS = new Set(['import', 'node', 'module-sync', 'default']);

/**
 * The absolute file that `import specifier` would load in a module of `folder`: a package of a `node_modules`
 * folder there or above, a path that starts with `./`, `../` or `/`, or a `file:` address. `undefined`: none.
 */
export function resolveModule(specifier: string, folder: string): string | undefined {
  const from = createRequire(join(resolve(folder), 'from-here.js'));
  const isPath = /^\.{0,2}\//.test(specifier) || isAbsolute(specifier);
  const name = specifier.startsWith('file:') ? fileURLToPath(specifier) : specifier;
  const exported = isPath || name !== specifier ? undefined : exportedFile(specifier, from);
  if (exported !== undefined) return exported;
  try {
    const file = from.resolve(name);
    return isAbsolute(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Packages that export to `import` only cannot be found by `require.resolve`. */
function exportedFile(specifier: string, from: NodeJS.Require): string | undefined {
  const [, name, subpath] = PACKAGE_NAME.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  for (const modules of from.resolve.paths(name) ?? []) {
    const root = join(modules, name);
    const exports = readExports(join(root, 'package.json'));
    if (exports === undefined) continue;
    const target = targetOf(entryOf(exports, subpath === undefined ? '.' : `./${subpath}`));
    return target === undefined ? undefined : join(root, target);
  }
  return undefined;
}

function readExports(file: string): unknown {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(manifest) ? manifest.exports : undefined;
  } catch {
    return undefined;
  }
}

function entryOf(exports: unknown, subpath: string): unknown {
  const bySubpath = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  if (bySubpath) return exports[subpath];
  return subpath === '.' ? exports : undefined;
}

function targetOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry.startsWith('./') ? entry : undefined;
  if (!isRecord(entry)) return undefined;
  for (const [condition, target] of Object.entries(entry)) {
    const found = CONDITIONS.has(condition) ? targetOf(target) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
