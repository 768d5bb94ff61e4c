import { TOOLS } from './material.js';
import type { Chat, ChatAnswer, ChatRequest, Message } from './openai-client.js';
import { type Row, readTold, type Told } from './row.js';
import type { Expectation, Step } from './scenario.js';
import { MODEL } from './stage.js';

/** Where a step's request can go. */
export interface Routes {
  readonly proxy: Chat;
  readonly blindProxy: Chat;
  readonly direct: Chat;
}

/** Plays the story; a row comes when its answers have come. `onStep` hears of each step before it begins. */
export async function* play(
  steps: readonly Step[],
  routes: Routes,
  onStep: (step: Step) => void,
): AsyncGenerator<Row> {
  let conversation: Message[] = [];
  for (const [at, step] of steps.entries()) {
    onStep(step);
    conversation = [...(step.fresh === true ? [] : conversation), ...step.says];
    const request = requestOf(step, conversation);
    const through = step.blind === true ? routes.blindProxy : routes.proxy;
    const [answer, direct] = await Promise.all([through(request), routes.direct(request)]);
    if (answer.message !== undefined) conversation.push(answer.message);
    yield rowOf(at + 1, step, answer, direct);
  }
}

function requestOf({ caps, stream, headers }: Step, messages: Message[]): ChatRequest {
  return {
    body: { model: MODEL, messages, tools: TOOLS, ...caps },
    stream: stream === true,
    headers: headers ?? {},
  };
}

function rowOf(
  step: number,
  { asks, caps, expect, note }: Step,
  answer: ChatAnswer,
  direct: ChatAnswer,
): Row {
  const told = readTold(answer.headers);
  return {
    step,
    asks,
    caps,
    told,
    status: answer.status,
    finishReason: answer.finishReason,
    usagePromptTokens: answer.promptTokens,
    directStatus: direct.status,
    note: note?.(told),
    surprises: surprises(expect, told, answer, direct),
  };
}

/** In what an outcome differs from what the story tells. */
export function surprises(
  expect: Expectation,
  told: Told,
  answer: Pick<ChatAnswer, 'status' | 'promptTokens'>,
  direct: Pick<ChatAnswer, 'status'>,
): string[] {
  const total = (told.promptTokens ?? 0) + (told.maxTokens ?? 0);
  const isExact = told.source === expect.source && told.source !== 'rough-fallback' && told.source !== 'none';
  const checks: readonly (readonly [what: string, is: unknown, expected: unknown])[] = [
    ['action', told.action, expect.action],
    ['reason', told.reason, expect.reason],
    ['source', told.source, expect.source],
    ['status', answer.status, 200],
    ['direct status', direct.status, expect.direct],
    ...(expect.fillsWindow === true ? ([['prompt and cap', total, told.window]] as const) : []),
    ...(isExact ? ([['prompt tokens', told.promptTokens, answer.promptTokens]] as const) : []),
  ];
  return checks
    .filter(([, is, expected]) => is !== expected)
    .map(([what, is, expected]) => `${what} is ${is ?? 'missing'}, not ${expected ?? 'missing'}`);
}
