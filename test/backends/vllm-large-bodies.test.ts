import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { callOf, contextFor, requestOf, vllm } from './support/contexts.js';
import { counted, listen } from './support/tokenizer-stub.js';

const large = (text: string) => ({
  model: 'm',
  messages: [{ role: 'user', content: text.repeat(1_000_000) }],
  tools: [],
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a prompt of a megabyte arrives whole, with its length', async () => {
  const stub = await listen((response) => counted(response, 7));
  await expect(vllm(contextFor(stub.url)).count(requestOf(large('x')), callOf())).resolves.toMatchObject({
    tokens: 7,
  });
  const [arrived] = stub.arrived;
  expect(JSON.parse(arrived?.body ?? '')).toEqual({ ...large('x'), add_generation_prompt: true });
  expect(arrived?.headers['content-length']).toBe(String(Buffer.byteLength(arrived?.body ?? '')));
  expect(arrived?.headers['transfer-encoding']).toBeUndefined();
});

test('a prompt of a megabyte is sent once more where the server closed the idle connection meanwhile', async () => {
  const seen = new Map<Socket, number>();
  const url = await listening(
    createServer((request, response) => {
      const requests = (seen.get(request.socket) ?? 0) + 1;
      seen.set(request.socket, requests);
      if (requests > 1) {
        request.socket.destroy();
        return;
      }
      request.resume().on('end', () => counted(response, 7));
    }),
  );
  const backend = vllm(contextFor(url));
  for (const text of ['x', 'y', 'z']) {
    await expect(backend.count(requestOf(large(text)), callOf())).resolves.toMatchObject({ tokens: 7 });
  }
  expect([...seen.values()]).toContain(2);
});

test('an answer before the end of a prompt of a megabyte is read', async () => {
  const url = await listening(
    createServer((request, response) => {
      counted(response, 7);
      request.resume();
    }),
  );
  const backend = vllm(contextFor(url));
  for (const text of ['x', 'y', 'z']) {
    await expect(backend.count(requestOf(large(text)), callOf())).resolves.toMatchObject({ tokens: 7 });
  }
});
