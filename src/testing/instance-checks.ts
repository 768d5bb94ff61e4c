import { ContextEngine } from '../engines/contract.js';
import { buildEngine } from '../engines/registration.js';
import { TRANSCRIPTS, type Transcript } from './transcripts.js';
import { CONTEXT_LENGTH, type EngineCheck, expect, MODEL, quietly, type Trial } from './trial.js';

const COUNTERS = [
  'lastPromptTokens',
  'lastCompletionTokens',
  'lastTotalTokens',
  'thresholdTokens',
  'contextLength',
  'compressionCount',
  'threshold',
] as const;
const STATUS = [
  'last_prompt_tokens',
  'threshold_tokens',
  'context_length',
  'usage_percent',
  'compression_count',
] as const;
const USAGE = { prompt_tokens: 700, completion_tokens: 20, total_tokens: 720 };
const LONG = TRANSCRIPTS.find(({ what }) => what === 'a long conversation') as Transcript;
const SECRET = 'the-word-of-one-conversation';

/** What an instance promises of itself and of others. */
export function instanceChecks(trial: Trial): EngineCheck[] {
  return [
    { name: 'has a name, the same in every instance', run: () => hasName(trial) },
    { name: 'keeps its counters as numbers', run: () => hasNumbers(trial) },
    { name: 'takes over the usage of an answer', run: () => takesUsage(trial) },
    { name: 'tells its status', run: () => tellsStatus(trial) },
    { name: 'follows a change of model', run: () => followsModel(trial) },
    { name: 'forgets its counters at a reset', run: () => forgets(trial) },
    { name: 'keeps conversations apart', run: () => keepsApart(trial) },
    { name: 'clones are instances of their own', run: () => clones(trial) },
  ];
}

async function hasName(trial: Trial): Promise<void> {
  const [one, other] = [await trial.build(), await trial.build()];
  expect(
    one.name === other.name,
    `name must be the same in every instance: it is "${one.name}" and "${other.name}"`,
  );
}

async function hasNumbers(trial: Trial): Promise<void> {
  for (const engine of [await trial.build(), await trial.start()]) {
    const wrong = COUNTERS.filter((key) => !Number.isFinite(engine[key]));
    expect(wrong.length === 0, `${wrong.join(', ')} must be numbers: the host reads them`);
  }
}

async function takesUsage(trial: Trial): Promise<void> {
  const engine = await trial.start();
  await engine.updateFromResponse(USAGE);
  const { lastPromptTokens, lastCompletionTokens, lastTotalTokens } = engine;
  expect(
    lastPromptTokens === 700 && lastCompletionTokens === 20 && lastTotalTokens === 720,
    'updateFromResponse must set lastPromptTokens, lastCompletionTokens and lastTotalTokens from the usage',
  );
}

async function tellsStatus(trial: Trial): Promise<void> {
  const status: unknown = (await trial.start()).getStatus();
  const wrong = STATUS.filter((key) => !Number.isFinite(Object(status)[key]));
  expect(wrong.length === 0, `getStatus must give ${wrong.join(', ')} as numbers`);
}

async function followsModel(trial: Trial): Promise<void> {
  const engine = await trial.build();
  engine.modelThresholds = new Map([[MODEL, 0.5]]);
  engine.updateModel(`org/${MODEL}-awq`, 1000);
  const { contextLength, thresholdTokens } = engine;
  expect(contextLength === 1000, 'updateModel must set contextLength');
  const isInside = thresholdTokens > 0 && thresholdTokens <= 1000;
  expect(isInside, 'updateModel must set thresholdTokens, to more than 0 and at most the context length');
  const isOwn = engine.updateModel !== ContextEngine.prototype.updateModel;
  expect(isOwn || thresholdTokens === 500, 'modelThresholds must stay as the host assigns it');
}

async function forgets(trial: Trial): Promise<void> {
  const engine = await trial.start();
  await quietly(() => engine.updateFromResponse(USAGE));
  engine.compressionCount = 3;
  await engine.onSessionReset();
  const { lastPromptTokens, lastCompletionTokens, lastTotalTokens, compressionCount } = engine;
  const left = lastPromptTokens + lastCompletionTokens + lastTotalTokens + compressionCount;
  expect(
    left === 0,
    'onSessionReset must set the last tokens and compressionCount to 0: call super.onSessionReset()',
  );
}

async function keepsApart(trial: Trial): Promise<void> {
  const [one, other] = [await trial.start(), await trial.start()];
  expect(one !== other, 'the factory gives one instance twice: build a new one at every call');
  const spoken = LONG.messages().map((message) => ({ ...message, content: `${SECRET} ${message.content}` }));
  await trial.compress(one, spoken, LONG.what);
  await quietly(() => one.onTurnComplete(structuredClone(spoken), USAGE));
  const outcome = await trial.compress(other, LONG.messages(), LONG.what);
  const text = JSON.stringify('result' in outcome ? outcome.result : undefined) ?? '';
  expect(
    !text.includes(SECRET),
    'words of one conversation are in another: keep them in the instance or in services.store',
  );
}

async function clones(trial: Trial): Promise<void> {
  const engine = await trial.start();
  if (typeof engine.cloneForAgent !== 'function') return;
  const { contextLength } = engine;
  const made = async () => engine.cloneForAgent?.(trial.context()) as ContextEngine;
  const clone = await buildEngine(made, 'cloneForAgent', trial.context());
  expect(clone !== engine, 'cloneForAgent must give a new instance');
  expect(clone.name === engine.name, 'cloneForAgent must give an engine of the same name');
  await quietly(() => clone.updateModel(MODEL, CONTEXT_LENGTH / 2));
  expect(
    engine.contextLength === contextLength,
    'a change of the clone must not change the original: copy its counters',
  );
}
