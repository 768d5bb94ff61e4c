import type { Message } from '../conversation/message.js';
import type { ContextEngine } from '../engines/contract.js';
import { isMessageList, lastUser } from './sequence.js';
import { TRANSCRIPTS, type Transcript } from './transcripts.js';
import { CONTEXT_LENGTH, type EngineCheck, expect, MODEL, type Trial, within } from './trial.js';

const SAMPLE = TRANSCRIPTS.find(({ what }) => what === 'tool groups') as Transcript;
const USAGE = { prompt_tokens: 700, completion_tokens: 20, total_tokens: 720 };
const UNKNOWN_TOOL = 'no_tool_of_that_name';

/** What the other hooks promise. */
export function hookChecks(trial: Trial): EngineCheck[] {
  return [
    { name: 'says whether compression is due with true or false', run: () => saysWhetherDue(trial) },
    { name: 'lives through the life of a conversation', run: () => lives(trial) },
    { name: 'selectContext gives nothing, or a list of messages', run: () => selects(trial) },
    { name: 'onTurnComplete observes a turn with and without usage', run: () => observes(trial) },
    { name: 'has tools with names, each once', run: () => hasTools(trial) },
    { name: 'answers tool calls with JSON, unknown ones with an error', run: () => answersTools(trial) },
  ];
}

async function saysWhetherDue(trial: Trial): Promise<void> {
  const engine = await trial.start();
  const answers = {
    'shouldCompress()': await engine.shouldCompress(),
    'shouldCompress(0)': await engine.shouldCompress(0),
    'shouldCompress(pressure)': await engine.shouldCompress(CONTEXT_LENGTH),
    'hasContentToCompress(messages)': engine.hasContentToCompress(SAMPLE.messages()),
    'shouldCompressPreflight(messages)': await engine.shouldCompressPreflight(SAMPLE.messages()),
  };
  for (const [call, answer] of Object.entries(answers)) {
    expect(typeof answer === 'boolean', `${call} must give true or false, not ${typeof answer}`);
  }
}

async function lives(trial: Trial): Promise<void> {
  for (const reason of ['new', 'restored', 'continued'] as const) {
    const engine = await trial.build();
    const id = '1'.repeat(32);
    try {
      await within('onSessionStart', async () =>
        engine.onSessionStart(id, { model: MODEL, contextLength: CONTEXT_LENGTH, reason }),
      );
      await within('onSessionEnd', async () => engine.onSessionEnd(id, SAMPLE.messages()));
    } catch (error) {
      throw new Error(
        `a conversation that is ${reason} must start and end: onSessionStart or onSessionEnd fails`,
        {
          cause: error,
        },
      );
    }
  }
}

async function selects(trial: Trial): Promise<void> {
  const engine = await trial.start();
  for (const transcript of TRANSCRIPTS) {
    const selected = await selection(engine, transcript.messages());
    expect(
      selected === undefined || selected === null || isMessageList(selected),
      'selectContext must give undefined, null, or a list of messages with roles: anything else is passed over',
    );
  }
}

async function selection(engine: ContextEngine, messages: Message[]): Promise<unknown> {
  const context = {
    conversationMessages: structuredClone(messages),
    incomingMessage: lastUser(structuredClone(messages)),
    budgetTokens: CONTEXT_LENGTH,
  };
  try {
    return await within('selectContext', async () => engine.selectContext(messages, context));
  } catch (error) {
    throw new Error('selectContext must not throw: it is passed over at every request then', {
      cause: error,
    });
  }
}

async function observes(trial: Trial): Promise<void> {
  const engine = await trial.start();
  const transcript = [...SAMPLE.messages(), { role: 'assistant', content: 'Done.' }];
  for (const usage of [USAGE, undefined]) {
    try {
      await within('onTurnComplete', async () => engine.onTurnComplete(structuredClone(transcript), usage));
    } catch (error) {
      const how = usage === undefined ? 'without usage' : 'with usage';
      throw new Error(`onTurnComplete must not throw ${how}: not every answer reports it`, { cause: error });
    }
  }
}

async function hasTools(trial: Trial): Promise<void> {
  const schemas: unknown = (await trial.start()).getToolSchemas();
  expect(Array.isArray(schemas), 'getToolSchemas must give a list');
  const names = schemas.map((schema: unknown): unknown => Object(schema).name);
  expect(
    names.every((name) => typeof name === 'string' && /^[\w-]{1,64}$/.test(name)),
    'every tool needs a bare schema with a name of 1 to 64 letters, digits, _ and -: the host wraps it as a function',
  );
  expect(new Set(names).size === names.length, 'two tools have one name');
}

async function answersTools(trial: Trial): Promise<void> {
  const engine = await trial.start();
  const known = engine.getToolSchemas();
  const names = Array.isArray(known) ? known.map(({ name }) => name) : [];
  for (const name of [...names, UNKNOWN_TOOL]) {
    const answer = parsed(await within(`the tool ${name}`, async () => engine.handleToolCall(name, {})));
    expect(answer !== undefined, `handleToolCall of ${name} must give JSON text, whatever the arguments are`);
    const isError = typeof answer === 'object' && answer !== null && 'error' in answer;
    expect(
      name !== UNKNOWN_TOOL || isError,
      'handleToolCall of an unknown name must give {"error": "..."} as text',
    );
  }
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
