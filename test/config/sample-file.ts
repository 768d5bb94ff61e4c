import { stringify } from 'yaml';
import { SECTIONS, type Section } from '../../src/config/setting.js';
import { fileKey, type SettingName, settingOf, settingsIn } from '../../src/config/table.js';

const WIDTH = 100;

const HEAD = `# yaml-language-server: $schema=./incontext.schema.json
#
# The configuration of incontext-proxy: incontext-proxy serve --config incontext.yaml
#
# Every setting, with its default. A setting that has none is commented out, with a value that would work.
# A flag wins over the environment, the environment over this file. An unknown key stops the start.
# Relative paths start at the working directory.
`;

const BLOCKS = `
# What differs for single models, by the name that requests use.
models: {}
#  Qwen/Qwen3-8B:
#    context_length: 131072
#    tokenizer_url: http://127.0.0.1:8000/tokenize
#    threshold: 0.75
#    min_output_tokens: 4096
#    max_output_tokens: 8192

# Modules with further backends or context engines: names of packages, or paths from this file's folder.
plugins: []
#  - ./my-backend.js

# Settings of single backends, by name. Each backend says which it has.
backends: {}
#  vllm:
#    media_reserve_tokens: 2048
#    long_counts_at_once: 1

# Settings of single engines, by name. Each engine says which it has.
engines: {}
`;

/** A configuration file that says what would hold without it, every setting explained. */
export function sampleFile(): string {
  return [HEAD, ...SECTIONS.map(sampleSection), BLOCKS].join('');
}

function sampleSection(section: Section): string {
  const names = settingsIn(section).filter((name) => settingOf(name).only !== 'command');
  return `\n${section}:\n${names.map(sampleSetting).join('\n')}`;
}

function sampleSetting(name: SettingName): string {
  const { description, kind, default: value, unset, required, example } = settingOf(name);
  const shown = unset !== undefined || required === true ? undefined : kind.show(value);
  const without = required === true ? 'Required' : `Default: ${unset ?? (shown === '' ? 'none' : shown)}`;
  const range = kind.rule.replace(/^must (be )?/, '');
  const comment = comments(description) + comments(`${without}. Range: ${range}.`);
  return `${comment}  ${unset === undefined ? '' : '# '}${fileKey(name)}: ${scalar(shown ?? example)}\n`;
}

/** Numbers, switches and mappings stand bare, other texts as YAML would write them. */
function scalar(text: string): string {
  const isBare = /^(\d+(\.\d+)?|true|false|\{.*\})$/.test(text);
  return isBare ? text : stringify(text).trim();
}

function comments(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 5 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => `  # ${line}\n`).join('');
}
