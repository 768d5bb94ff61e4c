import { randomUUID } from 'node:crypto';
import type { BodyReader } from '../body/body-reader.js';
import type { Answer } from '../stream/answer.js';
import { ANSWER_MARK } from './commands.js';
import type { Plan } from './plan.js';
import { planHeaders } from './plan.js';

/** How the client wants to be answered. */
interface Wish {
  readonly model: string;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
}

const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Answers a chat request as a model would, in the form that the client asked for. */
export function answerWithText(
  text: string,
  body: Buffer,
  plan: Plan,
  answer: Answer,
  bodies: BodyReader,
): void {
  const wish = wishOf(body, plan, bodies);
  const content = `${ANSWER_MARK}${text}`;
  if (!wish.isStream) {
    const whole = Buffer.from(JSON.stringify(completion(content, wish)));
    const length = ['content-length', String(whole.length)];
    answer.begin(200, 'OK', ['content-type', 'application/json', ...length, ...planHeaders(plan)]);
    answer.write(whole);
  } else {
    // Does nothing where the client waited for a compression and has its head.
    answer.begin(200, 'OK', [...STREAM_HEAD, ...planHeaders(plan)]);
    answer.write(Buffer.from(events(content, wish)));
  }
  answer.end();
}

const STREAM_HEAD = ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'];

function wishOf(body: Buffer, { facts }: Plan, bodies: BodyReader): Wish {
  const read = bodies.read(body);
  const request = read.kind === 'object' ? read.object : undefined;
  const model = request?.value('model');
  const options = request?.value('stream_options');
  return {
    model: typeof model === 'string' ? model : (facts.model ?? ''),
    isStream: request?.text('stream') === 'true',
    includesUsage: Object(options).include_usage === true,
  };
}

function identity({ model }: Wish) {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${randomUUID().replaceAll('-', '')}`, created, model };
}

function completion(content: string, wish: Wish) {
  const message = { role: 'assistant', content, refusal: null };
  return {
    ...identity(wish),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: NO_USAGE,
  };
}

function events(content: string, wish: Wish): string {
  const common = { ...identity(wish), object: 'chat.completion.chunk' };
  const chunk = (delta: object, finish: string | null) => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const chunks: object[] = [
    chunk({ role: 'assistant', content: '' }, null),
    chunk({ content }, null),
    chunk({}, 'stop'),
  ];
  if (wish.includesUsage) chunks.push({ ...common, choices: [], usage: NO_USAGE });
  return `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`;
}
