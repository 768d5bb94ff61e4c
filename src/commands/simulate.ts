import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import { untilSignal } from '../cli/until-signal.js';
import { SimulatorUsageError, simulatorOptionsFromArgs } from '../simulator/arguments.js';
import { MissingPackageError } from '../simulator/optional-packages.js';
import { startSimulator } from '../simulator/server.js';
import { explainStartFailure } from './settings.js';

/** Runs the simulator until a signal. */
export async function simulate(args: readonly string[], streams: Streams): Promise<number> {
  // Before anything is printed: whoever reads that it listens may send one at once.
  const signalled = untilSignal();
  try {
    const simulator = await startSimulator(simulatorOptionsFromArgs([...args]));
    streams.out(`simulator listening on ${simulator.url}`);
    await signalled;
    await simulator.close();
    return EXIT.ok;
  } catch (error) {
    if (error instanceof SimulatorUsageError) {
      streams.err(`incontext-proxy: ${error.message}\nTry: incontext-proxy simulate --help`);
      return EXIT.usage;
    }
    if (error instanceof MissingPackageError) streams.err(`incontext-proxy: ${error.message}`);
    else explainStartFailure(error, streams);
    return EXIT.failed;
  }
}
