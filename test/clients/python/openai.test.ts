import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Ask, type Asking, type Client, LOOK, type Look, type ToldFailure } from '../support/client.js';
import { holdsForClient } from '../support/promises.js';
import { pythonEnvironment } from '../support/python.js';

const PROGRAM = resolve(import.meta.dirname, 'openai_client.py');

/** What the program tells, line by line. */
type Told = { piece: string } | { look: unknown } | { text: string } | { failure: ToldFailure };

class ToldError extends Error {
  constructor(readonly told: ToldFailure) {
    super('the client gave up');
  }
}

function client(name: string, api: 'chat' | 'responses'): Client {
  const tool = { type: 'function', name: LOOK.name, description: LOOK.description, parameters: LOOK.schema };
  return {
    name,
    at: (proxyUrl, retries): Asking => {
      const run = (way: string, ask: Ask, look: Look = () => '') => {
        const { model, turns, cap, onText } = ask;
        const leaves = ask.signal !== undefined;
        const asked = { api, base_url: `${proxyUrl}/v1`, retries, way, model, turns, cap, leaves, tool };
        return play(asked, look, onText ?? (() => {}));
      };
      return {
        ask: (ask) => run('ask', ask),
        stream: (ask) => run('stream', ask),
        useTool: (ask, look, streams) => run(streams ? 'tool-stream' : 'tool', ask, look),
        failureOf: (error) =>
          error instanceof ToldError ? error.told : { status: undefined, retryAfter: undefined },
      };
    },
  };
}

async function play(asked: object, look: Look, onText: () => void): Promise<string> {
  const child = spawn('python3', [PROGRAM], { env: pythonEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    child.stdin.write(`${JSON.stringify(asked)}\n`);
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as Told;
      if ('text' in told) return told.text;
      if ('failure' in told) throw new ToldError(told.failure);
      if ('look' in told) child.stdin.write(`${JSON.stringify(look(told.look))}\n`);
      else onText();
    }
    throw new Error('the client ended without an answer');
  } finally {
    child.stdin.end();
  }
}

holdsForClient(client('openai for Python, chat completions', 'chat'));
holdsForClient(client('openai for Python, responses', 'responses'));
