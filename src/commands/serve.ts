import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import { formatSummary } from '../cli/summary.js';
import { untilSignal } from '../cli/until-signal.js';
import type { Flags } from '../config/flags.js';
import { createProxy } from '../server/create-proxy.js';
import { VERSION } from '../version.js';
import { explainStartFailure, readSettings } from './settings.js';

/** Runs the proxy until a signal. The first drains, the second ends at once. */
export async function serve(flags: Flags, streams: Streams): Promise<number> {
  const loaded = await readSettings(flags, streams);
  if (loaded === undefined) return EXIT.failed;
  const { settings, sources, backend } = loaded;
  try {
    const proxy = await createProxy({ settings, backend });
    streams.out(`incontext-proxy listening on ${proxy.url}`);
    streams.err(`incontext-proxy ${VERSION}\n${formatSummary(settings, sources)}`);
    await untilSignal();
    await Promise.race([proxy.drain(), untilSignal().then(() => proxy.close())]);
    return EXIT.ok;
  } catch (error) {
    explainStartFailure(error, streams);
    return EXIT.failed;
  }
}
