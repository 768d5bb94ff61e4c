/** A flag without a value that is no setting. */
export interface Switch {
  readonly name: string;
  readonly description: string;
}

/** A flag with a value that is no setting. */
export interface Valued extends Switch {
  readonly placeholder: string;
}

export interface CommandFacts {
  readonly summary: string;
  /** What follows the command's name in its usage line. */
  readonly usage: string;
  /** Takes every setting as a flag. */
  readonly takesSettings: boolean;
  readonly switches: readonly Switch[];
  readonly valued?: readonly Valued[];
  /** What its one operand is, where it takes one. */
  readonly operand?: string;
}

const json: Switch = { name: 'json', description: 'Print JSON instead of text.' };

/** The commands, in the order of the help. */
export const COMMANDS = {
  serve: {
    summary: 'Run the proxy.',
    usage: '--upstream URL [flags]',
    takesSettings: true,
    switches: [],
  },
  check: {
    summary: 'Check settings, upstream and tokenizer, and print what would be in force.',
    usage: '--upstream URL [flags]',
    takesSettings: true,
    switches: [
      json,
      {
        name: 'deep',
        description:
          'Send about 30 small requests too, one token each, and compare every count with what the server reports.',
      },
    ],
  },
  explain: {
    summary: 'Print what would be decided about the request body in a file.',
    usage: '--upstream URL [flags] FILE',
    takesSettings: true,
    switches: [json],
    valued: [
      {
        name: 'endpoint',
        placeholder: 'PATH',
        description:
          'The path that the request is sent to, such as /v1/responses. Default: /v1/chat/completions.',
      },
    ],
    operand: 'a file with a request body, or - for standard input',
  },
  simulate: {
    summary: 'Run a simulated inference server, with a real tokenizer and no model.',
    usage: '[flags]',
    takesSettings: false,
    switches: [],
  },
  demo: {
    summary: 'Show the proxy at work in front of the simulator.',
    usage: '[flags]',
    takesSettings: false,
    switches: [json, { name: 'keep', description: 'Keep serving afterwards.' }],
  },
} as const satisfies Record<string, CommandFacts>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export function commandFacts(name: CommandName): CommandFacts {
  return COMMANDS[name];
}
