import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import { formatSummary } from '../cli/summary.js';
import { untilSignals } from '../cli/until-signal.js';
import type { Flags } from '../config/flags.js';
import { createLog, exceptionType, type Log } from '../observe/log.js';
import { createProxy, type RunningProxy } from '../server/create-proxy.js';
import { VERSION } from '../version.js';
import { type CommandSettings, explainStartFailure, readSettings } from './settings.js';

interface Started extends CommandSettings {
  readonly proxy: RunningProxy;
}

/** Runs the proxy until a signal. The first drains, the second ends at once; one during the start ends that. */
export async function serve(flags: Flags, streams: Streams): Promise<number> {
  // Before anything is printed: whoever reads that it listens may send one at once.
  const signals = untilSignals();
  const started = await Promise.race([start(flags, streams), signals.first]);
  if (started === undefined) return EXIT.ok;
  if (started === 'refused') return EXIT.failed;
  const { proxy, settings, sources } = started;
  streams.out(`incontext-proxy listening on ${proxy.url}`);
  streams.err(`incontext-proxy ${VERSION}\n${formatSummary(settings, sources)}`);
  await signals.first;
  await Promise.race([proxy.drain(), signals.second.then(() => proxy.close())]);
  return EXIT.ok;
}

async function start(flags: Flags, streams: Streams): Promise<Started | 'refused'> {
  const loaded = await readSettings(flags, streams);
  if (loaded === undefined) return 'refused';
  try {
    const { settings, backend, engine } = loaded;
    const log = createLog(settings.server.logLevel);
    surviveForgottenPromises(log);
    return { ...loaded, proxy: await createProxy({ settings, backend, engine, log }) };
  } catch (error) {
    explainStartFailure(error, streams, loaded.sources);
    return 'refused';
  }
}

/** A plugin that does not wait for a promise of its own must not end everybody's requests when it is rejected. */
function surviveForgottenPromises(log: Log): void {
  process.on('unhandledRejection', (error) => {
    log.error(
      { code: 'unhandled_rejection', type: exceptionType(error) },
      'a rejected promise was not waited for',
    );
  });
}
