import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

export interface PackageJson {
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { readonly optional?: boolean }>;
}

export const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;

/** The documents of a YAML file of the repository. */
export function readYaml(path: string): unknown[] {
  return parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).map((document): unknown => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}
