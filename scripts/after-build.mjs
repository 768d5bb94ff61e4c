// Finishes a build: the command becomes executable, and what earlier builds left of removed sources goes away.
import { chmodSync, existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// tsc writes without the mode bits that `npm exec` needs.
chmodSync(join(root, 'dist/cli.js'), 0o755);

// Cleaning up after the build, not before, leaves no moment at which a running command finds its modules gone.
const entries = readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true });
const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }));
for (const { entry, path } of paths) {
  const source = path.replace(join(root, 'dist'), join(root, 'src')).replace(/\.(d\.ts|js|js\.map)$/, '.ts');
  if (!entry.isDirectory() && !existsSync(source)) rmSync(path);
}
// The deepest first, so that a folder of empty folders goes too.
for (const { entry, path } of paths.toSorted((a, b) => b.path.length - a.path.length)) {
  if (entry.isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
}
