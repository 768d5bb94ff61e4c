#!/usr/bin/env node
import { EXIT, parseCommand } from './cli/parse-command.js';
import { check } from './commands/check.js';
import { demo } from './commands/demo.js';
import { explain } from './commands/explain.js';
import { serve } from './commands/serve.js';
import { simulate } from './commands/simulate.js';
import { PROCESS_STREAMS, type Streams } from './commands/streams.js';
import { VERSION } from './version.js';

/** Runs one command. @returns the exit code. */
async function run(argv: readonly string[], streams: Streams): Promise<number> {
  const command = parseCommand(argv);
  switch (command.name) {
    case 'help':
      streams.out(command.text);
      return EXIT.ok;
    case 'version':
      streams.out(VERSION);
      return EXIT.ok;
    case 'usage':
      streams.err(command.text);
      return EXIT.usage;
    case 'serve':
      return serve(command.flags, streams);
    case 'check':
      return check(command.flags, command.json, streams);
    case 'explain':
      return explain(command.flags, command.input, command.json, streams);
    case 'simulate':
      return simulate(command.args, streams);
    case 'demo':
      return demo({ json: command.json, keep: command.keep }, streams);
  }
}

process.exitCode = await run(process.argv.slice(2), PROCESS_STREAMS);

// A plugin's forgotten timer or socket must not keep an ended command alive.
setTimeout(() => process.exit(), 1000).unref();
