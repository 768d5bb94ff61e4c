import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exchanges, REAL, type Stage, setStage, told } from './support/stage.js';

const TURNS = REAL === undefined ? 100 : 6;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ window: '2500' });
});
afterAll(() => stage.close());

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'measure',
      description: 'Measures a well',
      parameters: { type: 'object', properties: { well: { type: 'integer' } }, required: ['well'] },
    },
  },
];

test(`an agent of ${TURNS} turns with a tool gets every answer, and leaves nothing behind`, {
  timeout: 300_000,
}, async () => {
  const client = new OpenAI({ baseURL: `${stage.compressing.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You look after wells.' },
  ];
  const said: string[] = [];
  const measured: unknown[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const call = { name: 'measure', arguments: { well: turn } };
    const script = { rounds: [{ tool_calls: [call] }, { text: `Well ${turn} is ${turn + 10} deep.` }] };
    messages.push({ role: 'user', content: told(`How deep is well ${turn}?`, script) });
    for (;;) {
      const request = {
        model: stage.model,
        messages,
        tools,
        max_completion_tokens: REAL === undefined ? 400 : 16,
      };
      const message =
        turn % 2 === 0
          ? (await client.chat.completions.create(request)).choices[0]?.message
          : (await client.chat.completions.stream(request).finalChatCompletion()).choices[0]?.message;
      if (message === undefined) throw new Error('no answer');
      messages.push(message);
      const calls = message.tool_calls ?? [];
      if (calls.length === 0) {
        said.push(message.content ?? '');
        break;
      }
      for (const { id, ...rest } of calls) {
        measured.push(JSON.parse('function' in rest ? rest.function.arguments : '{}').well);
        messages.push({
          role: 'tool',
          tool_call_id: id,
          content: `${turn + 10} feet, dry sand. `.repeat(12),
        });
      }
    }
  }
  const done = exchanges(stage.compressing);
  expect(new Set(done.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual(
    new Set(['200 complete']),
  );
  await vi.waitFor(async () => {
    const status = await (await fetch(`${stage.compressing.url}/incontext/status`)).json();
    expect(status).toMatchObject({ in_flight: 0 });
  }, 10_000);
  expect(stage.relay.aborted).toBe(0);
  if (REAL !== undefined) return;
  const turns = [...Array(TURNS).keys()];
  expect(measured).toEqual(turns);
  expect(said).toEqual(turns.map((turn) => `Well ${turn} is ${turn + 10} deep.`));
  expect(done).toHaveLength(2 * TURNS);
  expect(done.slice(-2 * (TURNS - 30)).every(({ action }) => action === 'compressed')).toBe(true);
  const listed = await (await fetch(`${stage.compressing.url}/incontext/conversations`)).json();
  expect(listed).toMatchObject({ conversations: [{}] });
});
