import { parse } from 'yaml';

/** What a folder of an engine says of itself in `plugin.yaml`. */
export interface PluginManifest {
  readonly name: string;
  readonly description: string | undefined;
  readonly version: string | undefined;
}

/** Members that it does not know are left alone. @throws TypeError saying what is wrong, not quoting it. */
export function readManifest(text: string): PluginManifest {
  const manifest = asMapping(text);
  const name = textAt(manifest, 'name');
  if (name === undefined) throw new TypeError('has no name');
  return { name, description: textAt(manifest, 'description'), version: textAt(manifest, 'version') };
}

function asMapping(text: string): object {
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error' });
  } catch {
    throw new TypeError('is no valid YAML');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new TypeError('is no mapping with name, description and version');
}

function textAt(manifest: object, key: string): string | undefined {
  const value: unknown = Reflect.get(manifest, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.trim() !== '') return value;
  // Unquoted, `version: 1.0` is a number.
  if (typeof value === 'number' && key === 'version') return String(value);
  throw new TypeError(`has a ${key} that is no text`);
}
