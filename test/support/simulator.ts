import { inject } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import type { ReceivedRequest } from '../../src/simulator/request-log.js';

/** A simulator that runs in the main process of the test run. */
export interface TestSimulator {
  readonly url: string;
  readonly port: number;
  /** What arrived, oldest first. */
  requests(): Promise<readonly ReceivedRequest[]>;
  clearRequests(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one on a free port (or on `options.port`); close it when the test is over. */
export async function simulator(options: SimulatorOptions = {}): Promise<TestSimulator> {
  const control = inject('simulatorControlUrl');
  const answer = await fetch(control, { method: 'POST', body: JSON.stringify(options) });
  if (!answer.ok) throw new Error(await answer.text());
  const { url, port } = (await answer.json()) as { url: string; port: number };
  return {
    url,
    port,
    requests: async () => (await (await fetch(`${url}/__sim/requests`)).json()) as ReceivedRequest[],
    clearRequests: async () => void (await fetch(`${url}/__sim/requests`, { method: 'DELETE' })),
    close: async () => void (await fetch(`${control}/${port}`, { method: 'DELETE' })),
  };
}
