#!/usr/bin/env node
import { EXIT, parseCommand } from './cli/parse-command.js';
import { PROCESS_STREAMS, type Streams } from './cli/streams.js';
import { VERSION } from './version.js';

/** Runs one command, loading only what it needs. @returns the exit code. */
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
      return (await import('./commands/serve.js')).serve(command.flags, streams);
    case 'check':
      return (await import('./commands/check.js')).check(command.flags, command, streams);
    case 'explain':
      return (await import('./commands/explain.js')).explain(command.flags, command, command.json, streams);
    case 'simulate':
      return (await import('./commands/simulate.js')).simulate(command.args, streams);
    case 'demo':
      return (await import('./commands/demo.js')).demo({ json: command.json, keep: command.keep }, streams);
  }
}

process.exitCode = await run(process.argv.slice(2), PROCESS_STREAMS);

// A plugin's forgotten timer or socket must not keep an ended command alive.
setTimeout(() => process.exit(), 1000).unref();
