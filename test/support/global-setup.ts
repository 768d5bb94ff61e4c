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

/** One process holds the tokenizer; the tests' simulators all run in it. `POST /` starts one, `DELETE /PORT` ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = new Map<number, Simulator>();
  const control = createServer((request, response) => {
    handle(request, running).then(
      (body) => response.end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  const { port } = control.address() as AddressInfo;
  project.provide('simulatorControlUrl', `http://127.0.0.1:${port}`);
  return async () => {
    await Promise.all([...running.values()].map((simulator) => simulator.close()));
    control.closeAllConnections();
    await new Promise((resolve) => control.close(resolve));
  };
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
