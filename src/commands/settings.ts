import { readFileSync } from 'node:fs';
import { type BackendFactory, BackendSettingsError } from '../backends/contract.js';
import { BackendRegistryError } from '../backends/registry.js';
import { draftCommandSettings } from '../cli/command-settings.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import type { Sources } from '../config/load.js';
import { formatProblems } from '../config/problem.js';
import type { Settings } from '../config/settings.js';
import { configuredBackend } from '../server/choose-backend.js';
import type { EngineChoice } from '../server/choose-engine.js';
import { loadPlugins } from '../server/load-plugins.js';
import { StoreError } from '../store/conversation-store.js';
import { backendProblems } from './backend-check.js';
import { checkEngine } from './engine-check.js';
import { listenProblem } from './listen-problem.js';

/** What a command starts from. */
export interface CommandSettings {
  readonly settings: Settings;
  readonly sources: Sources;
  /** Builds the configured backend: plugins are loaded once. */
  readonly backend: BackendFactory;
  /** The configured engine. */
  readonly engine: EngineChoice;
}

/** Reads the settings of a command; everything wrong goes to standard error and `undefined` comes back. */
export async function readSettings(flags: Flags, streams: Streams): Promise<CommandSettings | undefined> {
  const draft = draftCommandSettings({
    flags,
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    cwd: process.cwd(),
  });
  const { settings, sources } = draft;
  for (const warning of draft.warnings) streams.err(`warning: ${warning}`);
  const plugins = await loadPlugins(settings);
  for (const warning of plugins.engines.warnings) streams.err(`warning: ${warning}`);
  const engine = await checkEngine(draft, plugins);
  const refused = [...draft.problems, ...engine.problems];
  const problems = [...refused, ...(await backendProblems({ ...draft, problems: refused }, plugins))];
  if (engine.choice !== undefined && problems.length === 0) {
    const backend = configuredBackend(settings, plugins.backends);
    return { settings, sources, backend, engine: engine.choice };
  }
  streams.err(formatProblems(problems));
  return undefined;
}

/**
 * Says readably why a start failed.
 * @throws what is no mistake of the operator's.
 */
export function explainStartFailure(error: unknown, streams: Streams, sources?: Sources): void {
  const listening = listenProblem(error, sources);
  if (listening !== undefined) streams.err(formatProblems([listening]));
  else if (error instanceof BackendSettingsError) streams.err(formatProblems(error.problems));
  else if (error instanceof BackendRegistryError || error instanceof StoreError)
    streams.err(`incontext-proxy: ${error.message}`);
  else throw error;
}
