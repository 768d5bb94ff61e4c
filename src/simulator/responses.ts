import type { Call } from './call.js';
import { counts, startChat } from './chat-job.js';
import { type PreparedChat, prepareAsked } from './chat-preparation.js';
import { readChatRequest } from './chat-request.js';
import type { Instance } from './instance.js';
import { readJsonObject } from './json-body.js';
import type { PythonDict } from './python-value.js';
import { chatOfResponse } from './response-chat.js';
import { type ResponseEvent, ResponseEvents } from './response-events.js';
import { checkResponse, refuseFullPrompt, refusePrevious, responsesHandler } from './response-request.js';
import {
  outputItems,
  type ResponseAnswer,
  type ResponseState,
  responseBody,
  responseUsage,
} from './response-shape.js';
import { ScriptRun } from './script-run.js';
import { streamedChoice, wholeChoice } from './single-choice.js';
import { namedTool } from './tool-choice.js';

/** `POST /v1/responses`, in JSON or as events. Nothing is stored. */
export async function answerResponse(call: Call, instance: Instance): Promise<void> {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, responsesHandler);
  checkResponse(request, vllm);
  instance.model(request.get('model'));
  refusePrevious(request);
  const prepared = await prepare(request, call, instance);
  const run = new ScriptRun(call, prepared.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await run.begin(prepared.ask.stream);
    const job = startChat(prepared, instance);
    const answer: ResponseAnswer = { id: `resp_${instance.nextId()}`, request, job };
    await (job.ask.stream ? streamAnswer(call, answer, run) : wholeAnswer(call, answer, run));
  });
}

async function prepare(request: PythonDict, call: Call, instance: Instance): Promise<PreparedChat> {
  const chat = chatOfResponse(request, instance.options.vllm);
  const ask = { ...readChatRequest(chat, instance.options.vllm), maxTokensField: 'max_output_tokens' };
  return await prepareAsked(chat, { ...ask, namedTool: namedTool(chat) }, call, instance, (tokens, model) =>
    refuseFullPrompt(tokens, model.maxModelLen),
  );
}

async function wholeAnswer(call: Call, answer: ResponseAnswer, run: ScriptRun): Promise<void> {
  const { job } = answer;
  const { choice, cut } = await wholeChoice(call, job, run);
  const { instance, head } = job;
  const hasParser = choice.calls.length > 0 || instance.options.reasoningParser !== undefined;
  const output = outputItems(choice, () => instance.nextId(), hasParser);
  const usage = responseUsage(
    counts(job, choice.tokenIds.length, choice.reasoningTokens),
    job.cached,
    head.vllm,
  );
  const body = JSON.stringify(responseBody(answer, ended(choice.finish, output, usage)));
  if (cut) await call.cut({ status: 200, body });
  else call.respond(200, body);
}

async function streamAnswer(call: Call, answer: ResponseAnswer, run: ScriptRun): Promise<void> {
  const { job } = answer;
  const { vllm } = job.head;
  const events = new ResponseEvents(vllm, () => job.instance.nextId());
  const write = (event: ResponseEvent): Promise<void> => call.event(JSON.stringify(event), event.type);
  const begun = responseBody(answer, { status: 'in_progress', output: [], usage: null });
  call.beginEvents();
  for (const type of ['response.created', 'response.in_progress']) await write(events.around(type, begun));
  const streamed = await streamedChoice(call, job, run, async (piece) => {
    for (const event of events.of(piece)) await write(event);
  });
  if (streamed === null) return;
  // The real server stumbles over an error in the middle of such a stream: the connection breaks.
  if (run.inBandError() !== null) return await call.cut();
  for (const event of events.close()) await write(event);
  const usage = responseUsage(counts(job, streamed.written, streamed.reasoned), job.cached, vllm);
  const whole = responseBody(answer, ended(streamed.finish.reason, events.items, usage));
  await write(events.around('response.completed', whole));
  await call.end();
}

function ended(finish: string, output: readonly object[], usage: object): ResponseState {
  return { status: finish === 'length' ? 'incomplete' : 'completed', output, usage };
}
