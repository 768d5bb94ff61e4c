import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { type ChatAnswer, post } from './ask.js';
import { recordedExchanges } from './recorded.js';

/** A row of the table that compares `/tokenize` with `usage.prompt_tokens` on 0.32. */
interface Row {
  readonly name: string;
  readonly chatStatus: number;
  /** Tokens, or what the refusal begins with. */
  readonly chat: string;
  readonly body: string;
}

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({ vllm: '0.32', models: [{ id: 'tiny', maxModelLen: 4096 }] });
});
afterAll(() => server.close());

function rows(): Row[] {
  const bodies = new Map(recordedExchanges('v0.32').map(({ name, request }) => [name, request.body]));
  const table = readFileSync(new URL('../fixtures/vllm/parity-0.32.tsv', import.meta.url), 'utf8');
  return table
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [name = '', status, chat = ''] = line.split('\t');
      const body = bodies.get(`par-${name}-tokfull`) ?? bodies.get(`par-${name}-chat`);
      return body == null ? [] : [{ name, chatStatus: Number(status), chat, body }];
    });
}

test('the table is there', () => {
  expect(rows().length).toBeGreaterThan(60);
});

test.each(rows().map((row) => [row.name, row] as const))(
  'a chat has as many prompt tokens as on the real server: %s',
  async (_name, row) => {
    const answer = await post(`${server.url}/v1/chat/completions`, row.body);
    const body = (await answer.json()) as ChatAnswer;
    expect(answer.status).toBe(row.chatStatus);
    if (row.chatStatus === 200) expect(body.usage.prompt_tokens).toBe(Number(row.chat));
    else expect(row.chat).toContain(JSON.stringify(body.error?.message).slice(0, 100));
  },
);
