import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import { type Simulator, startSimulator } from '../../src/simulator/server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where `simulator()` asks for instances. */
    simulatorControlUrl: string;
  }
}

interface Control {
  readonly url: string;
  users: number;
  stop(): Promise<void>;
}

/** Each project of the run sets up by itself; the first one's control serves them all. */
const shared = globalThis as { simulatorControl?: Promise<Control> };

/** One process holds the tokenizer; the tests' simulators all run in it. `POST /` starts one, `DELETE /PORT` ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.simulatorControl ??= startControl();
  const control = await shared.simulatorControl;
  control.users += 1;
  project.provide('simulatorControlUrl', control.url);
  return async () => {
    control.users -= 1;
    if (control.users > 0) return;
    delete shared.simulatorControl;
    await control.stop();
  };
}

async function startControl(): Promise<Control> {
  const running = new Map<number, Simulator>();
  const server = createServer((request, response) => {
    handle(request, running).then(
      (body) => response.end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((simulator) => simulator.close()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, users: 0, stop };
}

async function handle(request: IncomingMessage, running: Map<number, Simulator>): Promise<string> {
  if (request.method === 'DELETE') {
    const port = Number(request.url?.slice(1));
    await running.get(port)?.close();
    running.delete(port);
    return '';
  }
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const options = JSON.parse(Buffer.concat(parts).toString('utf8')) as SimulatorOptions;
  const simulator = await startSimulator({ ...options, host: '127.0.0.1', port: options.port ?? 0 });
  running.set(simulator.port, simulator);
  return JSON.stringify({ url: simulator.url, port: simulator.port });
}
