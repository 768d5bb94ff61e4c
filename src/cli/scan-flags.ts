import { parseArgs } from 'node:util';
import type { Flags } from '../config/flags.js';
import { nearest } from '../config/nearest.js';
import { flagName, SETTING_NAMES, type SettingName, settingOf } from '../config/table.js';
import { type CommandFacts, type CommandName, commandFacts } from './commands.js';

export interface Scanned {
  readonly help: boolean;
  readonly version: boolean;
  /** Settings by flag. Of a flag given twice the last counts. */
  readonly flags: Flags;
  readonly switches: ReadonlySet<string>;
  /** The command's own flags with a value. */
  readonly values: Readonly<Record<string, string>>;
  readonly operands: readonly string[];
}

/** Sorts the arguments after a command's name, or says what is wrong with them. Values are never repeated. */
export function scanFlags(
  command: CommandName,
  args: readonly string[],
): Scanned | { readonly error: string } {
  const facts = commandFacts(command);
  const valued = [
    ...settingFlags(facts, (name) => settingOf(name).kind.placeholder !== ''),
    ...ownValued(facts),
  ];
  const onOff = [
    ...settingFlags(facts, (name) => settingOf(name).kind.placeholder === ''),
    ...ownSwitches(facts),
  ];
  const flags: Record<string, string> = {};
  const operands: string[] = [];
  for (const token of tokensOf(args, valued, onOff)) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const positive = name.startsWith('no-') && onOff.includes(name.slice(3)) ? name.slice(3) : undefined;
    if (valued.includes(name)) {
      if (value === undefined || (inlineValue !== true && value.startsWith('--'))) {
        return { error: `${rawName} needs a value` };
      }
      flags[name] = value;
    } else if (onOff.includes(name)) flags[name] = value ?? 'true';
    else if (positive !== undefined && value === undefined) flags[positive] = 'false';
    else return { error: unknownFlag(command, rawName, name, [...valued, ...onOff]) };
  }
  return sortSwitches(facts, flags, operands);
}

function tokensOf(args: readonly string[], valued: readonly string[], onOff: readonly string[]) {
  const strings = valued.map((name) => [name, { type: 'string' }] as const);
  const booleans = onOff.map((name) => [name, { type: 'boolean' }] as const);
  return parseArgs({
    args: [...args],
    options: { ...Object.fromEntries([...strings, ...booleans]), help: { type: 'boolean', short: 'h' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

function settingFlags(facts: CommandFacts, wanted: (name: SettingName) => boolean): string[] {
  if (!facts.takesSettings) return [];
  return SETTING_NAMES.filter((name) => settingOf(name).only !== 'file' && wanted(name)).map(flagName);
}

function ownSwitches({ switches }: CommandFacts): string[] {
  return ['help', 'version', ...switches.map(({ name }) => name)];
}

function ownValued({ valued = [] }: CommandFacts): string[] {
  return valued.map(({ name }) => name);
}

function sortSwitches(
  facts: CommandFacts,
  given: Readonly<Record<string, string>>,
  operands: readonly string[],
): Scanned | { readonly error: string } {
  const own = ownSwitches(facts);
  const isValue = ([name]: readonly [string, string]) => ownValued(facts).includes(name);
  const values = Object.fromEntries(Object.entries(given).filter(isValue));
  const flags = Object.fromEntries(
    Object.entries(given).filter(([name]) => !own.includes(name) && !(name in values)),
  );
  const switches = new Set<string>();
  for (const name of own) {
    if (given[name] === 'true') switches.add(name);
    else if (given[name] !== undefined && given[name] !== 'false')
      return { error: `--${name} takes no value` };
  }
  return { help: switches.has('help'), version: switches.has('version'), flags, switches, values, operands };
}

function unknownFlag(command: CommandName, rawName: string, name: string, known: readonly string[]): string {
  const setting = SETTING_NAMES.find((each) => each.toLowerCase().replaceAll('_', '-') === name);
  const renamed = setting !== undefined && known.includes(flagName(setting)) ? flagName(setting) : undefined;
  const close = renamed ?? nearest(name, known);
  const hint = close === undefined ? '' : `; did you mean --${close}?`;
  return `${command} has no flag ${rawName}${hint}`;
}
