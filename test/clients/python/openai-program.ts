import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Look, ToldFailure } from '../support/client.js';
import { pythonEnvironment } from '../support/python.js';

const PROGRAM = resolve(import.meta.dirname, 'openai_client.py');

/** What the program tells, line by line. */
type Told = { piece: string } | { look: unknown } | { text: string } | { failure: ToldFailure };

export class ToldError extends Error {
  constructor(readonly told: ToldFailure) {
    super('the client gave up');
  }
}

/** Asks as `openai_client.py` says, and gives the last answer. */
export async function play(asked: object, look: Look, onPiece: (piece: string) => void): Promise<string> {
  const child = spawn('python3', [PROGRAM], { env: pythonEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    child.stdin.write(`${JSON.stringify(asked)}\n`);
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as Told;
      if ('text' in told) return told.text;
      if ('failure' in told) throw new ToldError(told.failure);
      if ('look' in told) child.stdin.write(`${JSON.stringify(look(told.look))}\n`);
      else onPiece(told.piece);
    }
    throw new Error('the client ended without an answer');
  } finally {
    child.stdin.end();
  }
}
