import { SECTIONS, type Section } from '../config/setting.js';
import { environmentName, flagName, type SettingName, settingOf, settingsIn } from '../config/table.js';
import { SIMULATE_HELP } from '../simulator/arguments.js';
import { COMMAND_NAMES, type CommandName, commandFacts } from './commands.js';
import { wrap } from './wrap.js';

/** The help of the program as a whole, at most 80 columns wide. */
export function overview(): string {
  const width = Math.max(...COMMAND_NAMES.map((name) => name.length)) + 4;
  const commands = COMMAND_NAMES.map((name) =>
    wrap(commandFacts(name).summary, width).replace(/^ */, `  ${name}`.padEnd(width)),
  );
  return [
    'Usage: incontext-proxy COMMAND [flags]',
    '',
    'Exact output budgets and context management for OpenAI-compatible servers.',
    '',
    'Commands:',
    ...commands,
    '',
    'incontext-proxy COMMAND --help explains a command, --version prints the version.',
    '',
    'Try it: incontext-proxy demo',
    'Use it: incontext-proxy serve --upstream http://127.0.0.1:8000',
  ].join('\n');
}

/** The help of one command, at most 80 columns wide. */
export function helpFor(command: CommandName): string {
  if (command === 'simulate') return SIMULATE_HELP.trimEnd();
  const { summary, usage, takesSettings, switches, valued = [], operand } = commandFacts(command);
  const flags = [
    ...valued.map(({ name, placeholder, description }) => entry(`--${name} ${placeholder}`, description)),
    ...switches.map(({ name, description }) => entry(`--${name}`, description)),
    entry('-h, --help', 'Print this.'),
  ];
  return [
    `Usage: incontext-proxy ${command} ${usage}`,
    '',
    wrap(summary, 0),
    ...(operand === undefined ? [] : ['', `FILE is ${operand}.`]),
    '',
    'Flags:',
    ...flags,
    ...(takesSettings ? settingsHelp() : []),
  ].join('\n');
}

/** A flag and what it does, below. */
export function entry(flag: string, description: string): string {
  return `  ${flag}\n${wrap(description, 6)}`;
}

const HOW_SETTINGS_ARE_GIVEN =
  'Every setting can also be given in the environment, --min-output-tokens as ' +
  'INCONTEXT_MIN_OUTPUT_TOKENS, or in the file that --config names. ' +
  'A flag wins over the environment, the environment over the file.';

function settingsHelp(): string[] {
  const sections = SECTIONS.map((section) => [section, flagsIn(section)] as const);
  return [
    '',
    wrap(HOW_SETTINGS_ARE_GIVEN, 0),
    ...sections.filter(([, names]) => names.length > 0).flatMap(sectionHelp),
  ];
}

function flagsIn(section: Section): SettingName[] {
  return settingsIn(section).filter((name) => settingOf(name).only !== 'file');
}

function sectionHelp([section, names]: readonly [Section, readonly SettingName[]]): string[] {
  return ['', `Settings, ${section}:`, ...names.map(settingHelp)];
}

function settingHelp(name: SettingName): string {
  const { kind, description, flag } = settingOf(name);
  const written = `--${flagName(name)}${kind.placeholder === '' ? '' : ` ${kind.placeholder}`}`;
  const elsewhere = flag === undefined ? '' : ` (${environmentName(name)})`;
  return entry(written + elsewhere, `${description} ${defaultText(name)}`);
}

/** `Default: 8787.`, or what holds without the setting. */
export function defaultText(name: SettingName): string {
  const { required, unset, kind, default: value } = settingOf(name);
  if (required === true) return 'Required.';
  if (unset !== undefined) return `Default: ${unset}.`;
  const shown = kind.show(value);
  return `Default: ${shown === '' ? 'none' : shown}.`;
}
