import type { Call } from './call.js';
import { type ChatJob, counts, startChat } from './chat-job.js';
import { type PreparedChat, prepareAsked } from './chat-preparation.js';
import { readChatRequest } from './chat-request.js';
import type { Instance } from './instance.js';
import { readJsonObject } from './json-body.js';
import { chatOfMessages, chatToolChoice, chatTools } from './messages-chat.js';
import { type MessageEvent, MessageEvents } from './messages-events.js';
import { checkMessages, type MessagesKind, messagesHandler } from './messages-request.js';
import { messageAnswer } from './messages-shape.js';
import { isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { badRequest, Refusal } from './refusal.js';
import { ScriptRun } from './script-run.js';
import { streamedChoice, wholeChoice } from './single-choice.js';
import { namedTool } from './tool-choice.js';

/** `POST /v1/messages`, the endpoint in the form of Anthropic, in JSON or as events. */
export async function answerMessages(call: Call, instance: Instance): Promise<void> {
  const prepared = await prepareMessages(call, instance, 'generation');
  const run = new ScriptRun(call, prepared.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await inItsShape(run.begin(prepared.ask.stream));
    const job = startChat(prepared, instance);
    await (job.ask.stream ? streamAnswer(call, job, run) : wholeAnswer(call, job, run));
  });
}

/** `POST /v1/messages/count_tokens`. Unlike `/tokenize` it refuses what is too long. */
export async function answerCountTokens(call: Call, instance: Instance): Promise<void> {
  const { promptIds } = await prepareMessages(call, instance, 'count');
  const tokens = promptIds.length;
  call.json({ input_tokens: tokens, context_management: { original_input_tokens: tokens } });
}

async function prepareMessages(call: Call, instance: Instance, kind: MessagesKind): Promise<PreparedChat> {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, messagesHandler);
  checkMessages(request, kind, vllm);
  return await inItsShape(prepareAsChat(request, call, instance));
}

/** What a request asks for is looked at before its tools are, as the server does. */
async function prepareAsChat(request: PythonDict, call: Call, instance: Instance): Promise<PreparedChat> {
  const { vllm } = instance.options;
  const chat = chatOfMessages(request, vllm);
  const ask = readChatRequest(chat, vllm);
  instance.model(chat.get('model'));
  const tools = chatTools(request, vllm);
  const choice = chatToolChoice(request);
  if (tools !== null) chat.set('tools', tools);
  if (choice !== null) chat.set('tool_choice', choice);
  const named = namedTool(chat);
  if (named !== null && !offers(tools, named))
    throw badRequest(`The tool with name '${named}' is not found in the tools list.`);
  return await prepareAsked(chat, { ...ask, namedTool: named }, call, instance);
}

function offers(tools: PythonValue, name: string): boolean {
  if (!isList(tools)) return false;
  return tools.some((tool) => {
    const called = isDict(tool) ? tool.get('function') : undefined;
    return isDict(called) && called.get('name') === name;
  });
}

/** Refusals of what a chat refuses too are told in Anthropic's shape. */
async function inItsShape<Result>(work: Promise<Result>): Promise<Result> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    const told = errorOf(error.body);
    if (told === undefined) throw error;
    const { type, message } = told;
    const body = JSON.stringify({ type: 'error', error: { type, message } });
    throw new Refusal(error.status, body, error.contentType, error.headers);
  });
}

function errorOf(body: string): { readonly type: unknown; readonly message: unknown } | undefined {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return undefined;
  const { error } = parsed;
  if (typeof error !== 'object' || error === null || !('type' in error) || !('message' in error))
    return undefined;
  return { type: error.type, message: error.message };
}

async function wholeAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { choice, cut } = await wholeChoice(call, job, run);
  const total = counts(job, choice.tokenIds.length, choice.reasoningTokens);
  const body = JSON.stringify(messageAnswer(job.head, choice, total, () => job.instance.nextId()));
  if (cut) await call.cut({ status: 200, body });
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const events = new MessageEvents(job.head, () => job.instance.nextId());
  const write = (event: MessageEvent): Promise<void> => call.event(JSON.stringify(event), event.type);
  call.beginEvents();
  await write(events.start(job.promptIds.length));
  const streamed = await streamedChoice(call, job, run, async (piece) => {
    for (const event of events.of(piece)) await write(event);
  });
  if (streamed === null) return;
  const error = run.inBandError();
  if (error === null) {
    const total = counts(job, streamed.written, streamed.reasoned);
    for (const event of events.end(streamed, total)) await write(event);
  } else await write({ type: 'error', error: inBand(error) });
  if (job.head.vllm === '0.16') await call.event('[DONE]');
  await call.end();
}

function inBand(error: object): object {
  const told = errorOf(JSON.stringify(error));
  return { type: 'internal_error', message: told?.message ?? '' };
}
