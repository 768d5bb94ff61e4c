import type { Flags } from '../config/flags.js';
import { nearest } from '../config/nearest.js';
import { COMMAND_NAMES, type CommandName, commandFacts } from './commands.js';
import { helpFor, overview } from './help.js';
import { scanFlags } from './scan-flags.js';

/** What the command line asks for. */
export type Command =
  /** To standard output, exit 0. */
  | { readonly name: 'help'; readonly text: string }
  | { readonly name: 'version' }
  /** To standard error, exit 2. */
  | { readonly name: 'usage'; readonly text: string }
  | { readonly name: 'serve'; readonly flags: Flags }
  | { readonly name: 'check'; readonly flags: Flags; readonly json: boolean; readonly deep: boolean }
  /** `input` is a path, or `-` for standard input. */
  | {
      readonly name: 'explain';
      readonly flags: Flags;
      readonly json: boolean;
      readonly input: string;
      /** A path; default: that of chats. */
      readonly endpoint?: string;
    }
  /** The simulator reads its arguments itself. */
  | { readonly name: 'simulate'; readonly args: readonly string[] }
  | { readonly name: 'demo'; readonly json: boolean; readonly keep: boolean };

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

const HELP = ['--help', '-h'];

/** Reads the arguments after the program's name. Never throws. */
export function parseCommand(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  if (first === undefined) return { name: 'usage', text: overview() };
  if (HELP.includes(first) || first === 'help') return helpOn(rest[0]);
  if (first === '--version') return { name: 'version' };
  if (isCommand(first)) return parseArguments(first, rest);
  if (first.startsWith('-')) return usage('the first argument must be a command', undefined);
  const close = nearest(first, COMMAND_NAMES);
  return usage(
    `there is no command ${first}${close === undefined ? '' : `; did you mean ${close}?`}`,
    undefined,
  );
}

function helpOn(topic: string | undefined): Command {
  return { name: 'help', text: topic !== undefined && isCommand(topic) ? helpFor(topic) : overview() };
}

function parseArguments(command: CommandName, args: readonly string[]): Command {
  if (command === 'simulate') {
    return args.some((arg) => HELP.includes(arg)) ? helpOn(command) : { name: command, args };
  }
  const scanned = scanFlags(command, args);
  if ('error' in scanned) {
    return args.some((arg) => HELP.includes(arg)) ? helpOn(command) : usage(scanned.error, command);
  }
  if (scanned.help) return helpOn(command);
  if (scanned.version) return { name: 'version' };
  const { flags, operands } = scanned;
  const [input, surplus] = commandFacts(command).operand === undefined ? [undefined, operands[0]] : operands;
  if (surplus !== undefined) return usage(`${command} was given an argument too many`, command);
  const json = scanned.switches.has('json');
  if (command === 'serve') return { name: command, flags };
  if (command === 'check') return { name: command, flags, json, deep: scanned.switches.has('deep') };
  if (command === 'demo') return { name: command, json, keep: scanned.switches.has('keep') };
  if (input !== undefined) return { name: command, flags, json, input, ...scanned.values };
  return usage(`${command} needs ${commandFacts(command).operand}`, command);
}

function isCommand(word: string): word is CommandName {
  return (COMMAND_NAMES as string[]).includes(word);
}

function usage(fault: string, command: CommandName | undefined): Command {
  const name = command === undefined ? '' : ` ${command}`;
  return { name: 'usage', text: `incontext-proxy: ${fault}\nTry: incontext-proxy${name} --help` };
}
