import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../support/hosted.js';
import { postChat, startProxy, told } from '../support/proxy.js';
import { simulator } from '../support/simulator.js';

const RESERVE = 512;
const TURN = 'The harbour master keeps a ledger of every ship that enters. '.repeat(25);
/** About 3900 of 4096 tokens. */
const messages = Array.from({ length: 12 }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `${i} ${TURN}`,
})).concat({ role: 'user', content: 'And now a long answer, please.' });
const BODY = JSON.stringify({ messages, max_tokens: 2000 });

async function started(engine: string) {
  const server = await simulator({ vllm: '0.32', models: [{ id: 'm', maxModelLen: 4096 }] });
  onTestFinished(() => server.close());
  const flags = { upstream: server.url, engine, data: folder(), 'min-output-tokens': String(RESERVE) };
  const proxy = await startProxy({ ...flags, threshold: '1' });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  return { server, proxy };
}

const lengthOf = async (answer: Response): Promise<number> =>
  ((await answer.json()) as { usage: { completion_tokens: number } }).usage.completion_tokens;

test('where vLLM 0.32 would cut an answer to less than the reserve without a word, the conversation is compressed', async () => {
  const { server, proxy } = await started('compressor');
  const direct = await postChat(server.url, BODY);
  expect(direct.status).toBe(200);
  expect(await lengthOf(direct)).toBeLessThan(RESERVE);
  const answer = await postChat(proxy.url, BODY);
  expect(told(answer)).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(Number(told(answer)['max-tokens'])).toBeGreaterThanOrEqual(RESERVE);
  expect(await lengthOf(answer)).toBeGreaterThanOrEqual(RESERVE);
});

test('where nothing compresses, the answer headers tell that the server will cut it', async () => {
  const { proxy } = await started('none');
  const answer = await postChat(proxy.url, BODY);
  const { action, reason, ...rest } = told(answer);
  expect([action, reason]).toEqual(['unchanged', 'requires_compression']);
  const left = Number(rest['context-length']) - Number(rest['prompt-tokens']);
  expect(await lengthOf(answer)).toBe(left);
  expect(left).toBeLessThan(RESERVE);
});
