import { spawn } from 'node:child_process';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string | undefined>;
  readonly uid?: number;
  readonly gid?: number;
}

/** Runs a command to its end. */
export function run([file = '', ...args]: readonly string[], options: RunOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/**
 * Runs a command that must succeed.
 * @returns its standard output
 */
export async function runOk(command: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')}: exit code ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

// What `npm test` and vitest set would change what npm and node do below them.
const INHERITED =
  /^(npm_(package|lifecycle|command|node|execpath|config_(omit|include|prefix|global|local|noproxy$)).*|INIT_CWD|NODE_(OPTIONS|ENV|PATH|V8_COVERAGE)|VITEST.*|INCONTEXT_.*|HERMES_.*)$/i;

/** The environment of a user's shell. What npm thinks of the machine's own npmrc is no word of ours. */
export function cleanEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !INHERITED.test(name));
  return { ...Object.fromEntries(kept), npm_config_loglevel: 'error' };
}
