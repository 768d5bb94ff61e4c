import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { callOf, contextFor, HELLO, requestOf, vllm } from './support/contexts.js';
import { listen } from './support/tokenizer-stub.js';

const TOKENS = 100_000;

async function tokenizerProcess() {
  const script = fileURLToPath(new URL('./support/large-answers.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, String(TOKENS)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await new Promise<Buffer[]>((resolve) =>
    child.stdout.once('data', (...data) => resolve(data)),
  );
  const { port, bytes } = JSON.parse(String(line));
  return { url: `http://127.0.0.1:${port}`, bytes: Number(bytes), stop: () => child.kill() };
}

test('the answer for 100,000 tokens costs a few milliseconds of CPU at most', async () => {
  const tokenizer = await tokenizerProcess();
  const backend = vllm(contextFor(tokenizer.url));
  const call = callOf({ contextLength: 131_072, fresh: true });
  const request = requestOf(HELLO);
  const rounds = async (count: number): Promise<number> => {
    const before = process.cpuUsage();
    for (let i = 0; i < count; i += 1)
      expect(await backend.count(request, call)).toMatchObject({ tokens: TOKENS });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / count;
  };
  try {
    expect(tokenizer.bytes).toBeGreaterThan(430_000);
    await rounds(100);
    const perCount = Math.min(await rounds(100), await rounds(100), await rounds(100));
    expect(perCount).toBeLessThan(3);
  } finally {
    tokenizer.stop();
  }
});

test('an abort closes the socket of the count at once', async () => {
  const stub = await listen(() => {});
  const backend = vllm(contextFor(stub.url));
  const client = new AbortController();
  const count = backend.count(requestOf(HELLO), callOf({ signal: client.signal }));
  await stub.arrivals(1);
  const start = performance.now();
  client.abort(new Error('left'));
  await expect(count).rejects.toThrow('left');
  await stub.arrived[0]?.closed;
  expect(performance.now() - start).toBeLessThan(900);
});
