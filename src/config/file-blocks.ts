import { notMapping, noValue, unknownKey } from './file.js';
import { type SettingProblem, showRefused } from './problem.js';
import { readValue } from './raw-value.js';
import type { Setting } from './setting.js';
import type { ModelSettings, Settings } from './settings.js';
import { MODEL_SETTINGS } from './table-context.js';
import { isMapping, type Mapping } from './yaml-mapping.js';

/** The parts of the file that are no single settings. */
export type Blocks = Pick<Settings, 'models' | 'plugins' | 'backends' | 'engines'>;

type ModelKey = keyof typeof MODEL_SETTINGS;
const MODEL_KEYS = Object.keys(MODEL_SETTINGS) as ModelKey[];

/** Reads `models`, `plugins`, `backends` and `engines`. What belongs to a plugin stays as it stands. */
export function readBlocks(file: Mapping, path: string): { blocks: Blocks; problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const blocks = {
    models: readModels(mappingAt(file, 'models', path, problems), path, problems),
    plugins: readPlugins(file.plugins, path, problems),
    backends: new Map(Object.entries(mappingAt(file, 'backends', path, problems))),
    engines: new Map(Object.entries(mappingAt(file, 'engines', path, problems))),
  };
  return { blocks, problems };
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
