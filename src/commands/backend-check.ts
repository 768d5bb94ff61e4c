import { BackendSettingsError } from '../backends/contract.js';
import type { Draft } from '../config/load.js';
import { suggestion } from '../config/nearest.js';
import { type SettingProblem, showRefused } from '../config/problem.js';
import type { Part } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { settingOf } from '../config/table.js';
import { NONE } from '../engines/bundled.js';
import { createLog } from '../observe/log.js';
import { assemble } from '../server/assemble.js';
import { configuredBackend } from '../server/choose-backend.js';
import type { LoadedPlugins, RefusedPlugin } from '../server/load-plugins.js';

/** What a backend is built from, beside the upstream's address. */
const PARTS_OF_BACKENDS: readonly Part[] = ['file', 'tokenizer', 'models', 'backends'];
// A backend is promised an address; under `.invalid` nothing answers (RFC 6761).
const NO_UPSTREAM = 'http://upstream.invalid';

/**
 * What is wrong with plugins, backend and the backend's own settings, as far as what they need was readable. Its own
 * settings are left for the start itself where everything else is right: it constructs the backend anyway.
 */
export async function backendProblems(draft: Draft, plugins: LoadedPlugins): Promise<SettingProblem[]> {
  const { settings, refusedIn, problems } = draft;
  const found = plugins.refused.map((plugin) => pluginProblem(plugin, draft));
  const known = plugins.backends.names();
  if (known.includes(settings.tokenizer.backend)) {
    const isReadable = !PARTS_OF_BACKENDS.some((part) => refusedIn.has(part));
    const startsAnyway = problems.length + found.length === 0;
    if (isReadable && !startsAnyway) found.push(...(await ownProblems(settings, plugins)));
  } else if (!refusedIn.has('file') && !refusedIn.has('plugins')) {
    found.push(unknownBackend(draft, plugins));
  }
  return found;
}

function pluginProblem({ specifier, error }: RefusedPlugin, { sources }: Draft): SettingProblem {
  const why = error.message.replace(`the plugin "${specifier}" `, '');
  return {
    setting: `plugins in ${sources.get('CONFIG')?.shown}`,
    value: showRefused(specifier, false),
    rule: `must be a plugin that can be loaded: it ${why}`,
    example: './my-backend.js',
  };
}

function unknownBackend({ settings, sources }: Draft, { backends, refused }: LoadedPlugins): SettingProblem {
  const { backend } = settings.tokenizer;
  const perhaps = refused.length > 0 ? '; a plugin that cannot be loaded may have it' : '';
  return {
    setting: sources.get('BACKEND')?.writtenAs ?? '',
    value: showRefused(backend, false),
    rule: `must name a backend that is bundled or of a plugin: ${suggestion(backend, backends.names())}${perhaps}`,
    example: settingOf('BACKEND').example,
  };
}

/** Builds the backend to hear what it says of its settings, and puts it away. */
async function ownProblems(
  settings: Settings,
  { backends }: LoadedPlugins,
): Promise<readonly SettingProblem[]> {
  const { upstream, context } = settings;
  try {
    const parts = await assemble({
      settings: {
        ...settings,
        upstream: { ...upstream, url: upstream.url || NO_UPSTREAM },
        context: { ...context, engine: NONE },
      },
      backend: configuredBackend(settings, backends),
      log: createLog('silent'),
    });
    await parts.close();
    return [];
  } catch (error) {
    return error instanceof BackendSettingsError ? error.problems : [];
  }
}
