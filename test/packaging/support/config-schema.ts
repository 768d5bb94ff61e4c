import { parse } from 'yaml';
import { z } from 'zod';
import { SECTIONS, type Section, type Setting } from '../../../src/config/setting.js';
import { fileKey, type SettingName, settingOf, settingsIn } from '../../../src/config/table.js';
import { MODEL_SETTINGS } from '../../../src/config/table-context.js';

/** A JSON schema, as far as it is looked into here. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const NAMED_BLOCKS = {
  backends: 'Settings of single backends, by name. Each backend says which it has.',
  engines: 'Settings of single engines, by name. Each engine says which it has.',
};

/** The JSON schema of the configuration file, for editors. */
export function configSchema(): JsonSchema {
  const blocks = Object.entries(NAMED_BLOCKS).map(([name, description]) => [name, { description, ...MAP }]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The configuration of incontext-proxy',
    ...onlyThese({
      ...Object.fromEntries(SECTIONS.map((section) => [section, sectionSchema(section)])),
      models: modelsSchema(),
      plugins: {
        description:
          "Modules with further backends or context engines: names of packages, or paths from this file's folder.",
        type: ['array', 'null'],
        items: { type: 'string', minLength: 1 },
      },
      ...Object.fromEntries(blocks),
    }),
  };
}

const MAP = { type: ['object', 'null'] };

/** A block without content is the same as none. */
function onlyThese(properties: JsonSchema): JsonSchema {
  return { ...MAP, additionalProperties: false, properties };
}

function sectionSchema(section: Section): JsonSchema {
  const names = settingsIn(section).filter((name) => settingOf(name).only !== 'command');
  return onlyThese(Object.fromEntries(names.map((name) => [fileKey(name), settingSchema(name)])));
}

function settingSchema(name: SettingName): JsonSchema {
  const { description, kind, default: value, unset, required } = settingOf(name);
  const range = `Range: ${kind.rule.replace(/^must (be )?/, '')}.`;
  const without = unset === undefined ? '' : ` Default: ${unset}.`;
  const hasDefault = unset === undefined && required !== true;
  return {
    description: `${description}${without} ${range}`,
    ...(hasDefault ? { default: written(kind.show(value)) } : {}),
    ...valueSchema(settingOf(name)),
  };
}

function modelsSchema(): JsonSchema {
  const settings = Object.entries(MODEL_SETTINGS).map(([key, facts]) => [key, valueSchema(facts)]);
  return {
    description: 'What differs for single models, by the name that requests use.',
    ...MAP,
    additionalProperties: { ...onlyThese(Object.fromEntries(settings)), type: 'object' },
  };
}

function valueSchema({ kind, example }: Pick<Setting<unknown>, 'kind' | 'example'>): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(kind.schema, { io: 'input', target: 'draft-7' });
  return { ...schema, examples: [written(example)] };
}

/** The value that this text is in a file. */
function written(text: string): unknown {
  return text === '' ? '' : parse(text);
}

/** Laid out as the formatter does: short lists stay on one line. */
export function layOut(schema: JsonSchema): string {
  const text = JSON.stringify(schema, undefined, 2);
  const lists = /\[\n\s+([^[\]{}]*?)\n\s+\]/g;
  return `${text.replace(lists, (_, items: string) => `[${items.replace(/,\n\s+/g, ', ')}]`)}\n`;
}
