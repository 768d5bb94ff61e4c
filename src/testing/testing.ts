import type { EngineSource } from '../engines/engine-shape.js';
import { compressChecks } from './compress-checks.js';
import { earlyChecks } from './early-checks.js';
import { hookChecks } from './hook-checks.js';
import { instanceChecks } from './instance-checks.js';
import { type EngineCheck, type EngineCheckOptions, Trial } from './trial.js';

export {
  type Script,
  type TestServices,
  type TestServicesOptions,
  testServices,
} from './test-services.js';
export { TRANSCRIPTS, type Transcript } from './transcripts.js';
export type { EngineCheck, EngineCheckOptions } from './trial.js';

/**
 * The contract of context engines as checks, for any test runner; no network, no proxy.
 *
 * @example
 * for (const { name, run } of contextEngineChecks((context) => new MyEngine(context))) test(name, run);
 */
export function contextEngineChecks(
  engine: EngineSource,
  { options }: EngineCheckOptions = {},
): EngineCheck[] {
  const trial = new Trial(engine, options);
  return [...instanceChecks(trial), ...compressChecks(trial), ...earlyChecks(trial), ...hookChecks(trial)];
}
