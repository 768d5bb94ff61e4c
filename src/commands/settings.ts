import { readFileSync } from 'node:fs';
import { BackendSettingsError } from '../backends/contract.js';
import { PluginError } from '../backends/plugins.js';
import { BackendRegistryError } from '../backends/registry.js';
import { loadCommandSettings } from '../cli/command-settings.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import type { Loaded } from '../config/load.js';
import { formatProblems } from '../config/problem.js';
import { UnknownEngineError } from '../engines/choose-engine.js';

/** Reads the settings of a command; what is wrong goes to standard error and `undefined` comes back. */
export function readSettings(flags: Flags, streams: Streams): Extract<Loaded, { ok: true }> | undefined {
  const loaded = loadCommandSettings({
    flags,
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    cwd: process.cwd(),
  });
  for (const warning of loaded.warnings) streams.err(`warning: ${warning}`);
  if (loaded.ok) return loaded;
  streams.err(formatProblems(loaded.problems));
  return undefined;
}

/**
 * Says readably why a start failed.
 * @throws what is no mistake of the operator's.
 */
export function explainStartFailure(error: unknown, streams: Streams): void {
  if (error instanceof BackendSettingsError) streams.err(formatProblems(error.problems));
  else if (error instanceof Error && isOperators(error)) streams.err(`incontext-proxy: ${error.message}`);
  else throw error;
}

function isOperators(error: Error): boolean {
  if (error instanceof BackendRegistryError || error instanceof PluginError) return true;
  if (error instanceof UnknownEngineError) return true;
  return (
    'code' in error && ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(String(error.code))
  );
}
