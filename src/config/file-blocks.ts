import { notMapping, noValue, unknownKey } from './file.js';
import { type SettingProblem, showRefused } from './problem.js';
import { readValue } from './raw-value.js';
import { FILE_BLOCKS, type Part, type Setting } from './setting.js';
import type { ModelSettings, Settings } from './settings.js';
import { MODEL_SETTINGS } from './table-context.js';
import { isMapping, type Mapping } from './yaml-mapping.js';

/** The parts of the file that are no single settings. */
export type Blocks = Pick<Settings, 'models' | 'plugins' | 'backends' | 'engines'>;

type ModelKey = keyof typeof MODEL_SETTINGS;
const MODEL_KEYS = Object.keys(MODEL_SETTINGS) as ModelKey[];

export interface ReadBlocks {
  readonly blocks: Blocks;
  readonly problems: readonly SettingProblem[];
  readonly refusedIn: ReadonlySet<Part>;
}

/** Reads `models`, `plugins`, `backends` and `engines`. What belongs to a plugin stays as it stands. */
export function readBlocks(file: Mapping, path: string): ReadBlocks {
  const problems: Record<(typeof FILE_BLOCKS)[number], SettingProblem[]> = {
    models: [],
    plugins: [],
    backends: [],
    engines: [],
  };
  const mapping = (key: 'models' | 'backends' | 'engines') => mappingAt(file, key, path, problems[key]);
  const blocks = {
    models: readModels(mapping('models'), path, problems.models),
    plugins: readPlugins(file.plugins, path, problems.plugins),
    backends: new Map(Object.entries(mapping('backends'))),
    engines: new Map(Object.entries(mapping('engines'))),
  };
  const refusedIn = new Set(FILE_BLOCKS.filter((key) => problems[key].length > 0));
  return { blocks, problems: Object.values(problems).flat(), refusedIn };
}

function mappingAt(file: Mapping, key: string, path: string, problems: SettingProblem[]): Mapping {
  const content = file[key] ?? {};
  if (isMapping(content)) return content;
  problems.push(notMapping(`${key} in ${path}`));
  return {};
}

function readModels(models: Mapping, path: string, problems: SettingProblem[]): Map<string, ModelSettings> {
  const read = new Map<string, ModelSettings>();
  for (const [id, content] of Object.entries(models)) {
    if (isMapping(content)) read.set(id, readModel(id, content, path, problems));
    else problems.push(notMapping(`models.${id} in ${path}`));
  }
  return read;
}

function readModel(id: string, content: Mapping, path: string, problems: SettingProblem[]): ModelSettings {
  for (const key of Object.keys(content)) {
    if ((MODEL_KEYS as string[]).includes(key)) continue;
    problems.push(unknownKey(`models.${id}.${key} in ${path}`, key, undefined, MODEL_KEYS));
  }
  const at = <T>(key: ModelKey, setting: Pick<Setting<T>, 'kind' | 'example'>): T | undefined => {
    const value = content[key];
    if (value === undefined) return undefined;
    const writtenAs = `models.${id}.${key} in ${path}`;
    const reading = value === null ? { problem: noValue(writtenAs, setting.example) } : undefined;
    const result = reading ?? readValue(setting, { writtenAs, value });
    if ('value' in result) return result.value;
    problems.push(result.problem);
    return undefined;
  };
  return {
    contextLength: at('context_length', MODEL_SETTINGS.context_length),
    tokenizerUrl: at('tokenizer_url', MODEL_SETTINGS.tokenizer_url),
    threshold: at('threshold', MODEL_SETTINGS.threshold),
    minOutputTokens: at('min_output_tokens', MODEL_SETTINGS.min_output_tokens),
    maxOutputTokens: at('max_output_tokens', MODEL_SETTINGS.max_output_tokens),
  };
}

function readPlugins(content: unknown, path: string, problems: SettingProblem[]): string[] {
  if (content === undefined || content === null) return [];
  const isName = (each: unknown): each is string => typeof each === 'string' && each.trim() !== '';
  if (Array.isArray(content) && content.every(isName)) return content;
  problems.push({
    setting: `plugins in ${path}`,
    value: showRefused(content, false),
    rule: 'must be a list of module names or paths',
    example: '[ ./my-backend.js ]',
  });
  return [];
}
