import { dirname, resolve } from 'node:path';
import { gatherFile } from './file.js';
import { type Blocks, readBlocks } from './file-blocks.js';
import type { SettingProblem } from './problem.js';
import type { Gathered, RawValue } from './raw-value.js';
import type { Part } from './setting.js';
import { type Mapping, readYaml } from './yaml-mapping.js';

/** How files are read. */
export interface FileAccess {
  /** The text of a file. Throws where there is none. */
  readonly readFile: (path: string) => string;
  /** Relative paths start here. */
  readonly cwd: string;
}

export interface OpenFile {
  readonly gathered: Gathered;
  readonly blocks: Blocks;
  /** The folder that the file's plugins are resolved from. */
  readonly base: string;
}

/** What the file that `config` names says: nothing without a name, and where it cannot be read as a mapping. */
export function openFile(config: RawValue | undefined, { readFile, cwd }: FileAccess): OpenFile {
  if (config === undefined || String(config.value).trim() === '') return useFile({}, '', cwd);
  const path = String(config.value).trim();
  const base = dirname(resolve(cwd, path));
  let text: string;
  try {
    text = readFile(resolve(cwd, path));
  } catch (error) {
    const rule = `must name a readable file: ${errorCode(error)}`;
    return noFile(base, [{ setting: config.writtenAs, value: path, rule, example: 'incontext.yaml' }]);
  }
  const yaml = readYaml(text, path);
  return 'problems' in yaml ? noFile(base, yaml.problems) : useFile(yaml.mapping, path, base);
}

function useFile(mapping: Mapping, path: string, base: string): OpenFile {
  const { blocks, problems, refusedIn } = readBlocks(mapping, path);
  const sections = gatherFile(mapping, path);
  const gathered = {
    ...sections,
    problems: [...sections.problems, ...problems],
    refusedIn: new Set([...sections.refusedIn, ...refusedIn]),
  };
  return { gathered, blocks, base };
}

function noFile(base: string, problems: readonly SettingProblem[]): OpenFile {
  const { gathered, blocks } = useFile({}, '', base);
  return { gathered: { ...gathered, problems, refusedIn: new Set<Part>(['file']) }, blocks, base };
}

/** `ENOENT`: the error's own text would repeat the path. */
export function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'it could not be read';
}
