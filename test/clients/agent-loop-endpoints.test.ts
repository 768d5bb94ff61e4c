import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchanges, REAL, type Stage, setStage, told } from './support/stage.js';

const TURNS = REAL === undefined ? 40 : 4;
const CAP = REAL === undefined ? 400 : 16;
const RESULT = 'dry sand, firm ground. '.repeat(16);

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ window: '2500' });
});
afterAll(() => stage.close());

const question = (turn: number) => {
  const call = { name: 'measure', arguments: { well: turn } };
  return told(`How deep is well ${turn}?`, {
    rounds: [{ tool_calls: [call] }, { text: `Well ${turn} is ${turn + 10} deep.` }],
  });
};
const parameters = { type: 'object', properties: { well: { type: 'integer' } }, required: ['well'] } as const;

/** Every request was answered, and all but the first turns stood on a compressed conversation. */
function expectServed(said: readonly string[], measured: readonly unknown[], from: number): void {
  const done = exchanges(stage.compressing).slice(from);
  expect(new Set(done.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual(
    new Set(['200 complete']),
  );
  if (REAL !== undefined) return;
  expect(measured).toEqual([...Array(TURNS).keys()]);
  expect(said).toEqual(measured.map((turn) => `Well ${turn} is ${Number(turn) + 10} deep.`));
  expect(done.slice(-TURNS).every(({ action }) => action === 'compressed')).toBe(true);
  const reasons = done.map(({ reason }) => reason);
  expect(reasons).toContain('compression_due');
  expect(reasons.filter((reason) => reason === 'checkpoint_reused').length).toBeGreaterThan(TURNS / 2);
  expect(done.every(({ prompt_tokens: tokens }) => Number(tokens) <= 2500)).toBe(true);
}

test(`an agent of ${TURNS} turns with a tool, in the form of Anthropic, is compressed and goes on`, {
  timeout: 300_000,
}, async () => {
  const from = exchanges(stage.compressing).length;
  const { messages: api } = new Anthropic({
    baseURL: stage.compressing.url,
    apiKey: null,
    authToken: 'none',
    maxRetries: 0,
  });
  const messages: Anthropic.MessageParam[] = [];
  const said: string[] = [];
  const measured: unknown[] = [];
  const tools = [
    { name: 'measure', description: 'Measures a well', input_schema: { ...parameters, required: ['well'] } },
  ];
  for (let turn = 0; turn < TURNS; turn += 1) {
    messages.push({ role: 'user', content: question(turn) });
    for (;;) {
      const system = [{ type: 'text' as const, text: 'You look after wells.' }];
      const request = { model: stage.model, messages, tools, system, max_tokens: CAP };
      const { content } =
        turn % 2 === 0
          ? await api.create(request, { timeout: 60_000 })
          : await api.stream(request).finalMessage();
      messages.push({ role: 'assistant', content });
      const calls = content.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) {
        said.push(content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
        break;
      }
      measured.push(...calls.map(({ input }) => (input as { well: unknown }).well));
      messages.push({
        role: 'user',
        content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT })),
      });
    }
  }
  expectServed(said, measured, from);
});

test(`an agent of ${TURNS} turns with a tool, with /v1/responses, is compressed and goes on`, {
  timeout: 300_000,
}, async () => {
  const from = exchanges(stage.compressing).length;
  const { responses } = new OpenAI({ baseURL: `${stage.compressing.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  const said: string[] = [];
  const measured: unknown[] = [];
  const tools = [
    { type: 'function' as const, name: 'measure', description: 'Measures a well', parameters, strict: false },
  ];
  for (let turn = 0; turn < TURNS; turn += 1) {
    input.push({ role: 'user', content: question(turn) });
    for (;;) {
      const request = {
        model: stage.model,
        instructions: 'You look after wells.',
        input,
        tools,
        max_output_tokens: CAP,
        store: false,
      };
      const response =
        turn % 2 === 0 ? await responses.create(request) : await responses.stream(request).finalResponse();
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      if (calls.length === 0) {
        said.push(response.output_text);
        break;
      }
      for (const { call_id, arguments: given } of calls) {
        measured.push(JSON.parse(given).well);
        input.push({ type: 'function_call_output', call_id, output: RESULT });
      }
    }
  }
  expectServed(said, measured, from);
});
