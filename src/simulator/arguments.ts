import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { defaultMaxModelLen, defaultModelName, type ServedModel, type SimulatorOptions } from './options.js';
import { longestDelay } from './script-schema.js';
import { type VllmVersion, vllmVersions } from './version.js';

/** The command line does not make sense; the message says what and how to mend it. */
export class SimulatorUsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SimulatorUsageError';
  }
}

export const SIMULATE_HELP = `Usage: incontext-proxy simulate [options]

A stand-in for vLLM with Qwen3's real tokenizer and chat template.

  --host HOST               address to listen on (127.0.0.1)
  --port PORT               port, 0 for any free one (8000)
  --vllm 0.16|0.32          whose limits and wording to follow (0.32)
  --model NAME[=LENGTH]     a model to serve; may be repeated (${defaultModelName}=${defaultMaxModelLen})
  --max-model-len N         tokens of models without a length of their own (${defaultMaxModelLen})
  --api-key KEY             ask for this key where vLLM does
  --chunk-delay-ms N        wait before each chunk of a generation (0)
  --tokenize-delay-ms N     wait before each answer of /tokenize (0)
  --tls-cert FILE           serve HTTPS with this certificate (PEM)
  --tls-key FILE            and its key
  --help                    print this

Start flags of vLLM:
  --enable-scale-out
  --trust-request-chat-template
  --exclude-tools-when-tool-choice-none
  --default-chat-template-kwargs JSON
  --reasoning-parser NAME
  --served-model-name NAME  a further name of the first model; may be repeated
  --no-enable-auto-tool-choice
                            refuse tools that the model may choose freely
  --no-enable-prompt-tokens-details
                            leave out usage.prompt_tokens_details.cached_tokens

A line '!sim {"text": "..."}' in the last user message scripts the answer: text, tokens, reasoning,
tool_calls, finish_reason, delay_ms, chunk_delay_ms, status, error, headers, cut_after_chunks, reset,
hang, close_next, split_bytes, tokenize, attempts, rounds.
GET and DELETE /__sim/requests list and forget what arrived.
`;

const flags = {
  host: { type: 'string' },
  port: { type: 'string' },
  vllm: { type: 'string' },
  model: { type: 'string', multiple: true },
  'max-model-len': { type: 'string' },
  'api-key': { type: 'string' },
  'chunk-delay-ms': { type: 'string' },
  'tokenize-delay-ms': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'enable-scale-out': { type: 'boolean' },
  'trust-request-chat-template': { type: 'boolean' },
  'exclude-tools-when-tool-choice-none': { type: 'boolean' },
  'default-chat-template-kwargs': { type: 'string' },
  'reasoning-parser': { type: 'string' },
  'served-model-name': { type: 'string', multiple: true },
  'no-enable-auto-tool-choice': { type: 'boolean' },
  'no-enable-prompt-tokens-details': { type: 'boolean' },
} as const satisfies NonNullable<ParseArgsConfig['options']>;

type Values = ReturnType<typeof parseArgs<{ options: typeof flags; strict: true }>>['values'];

/**
 * The options of `incontext-proxy simulate`, from what follows the command.
 * @throws SimulatorUsageError
 */
export function simulatorOptionsFromArgs(argv: readonly string[]): SimulatorOptions {
  const values = parseFlags(argv);
  return {
    host: values.host ?? '127.0.0.1',
    port: wholeNumber('--port', values.port ?? '8000', 0, 65_535),
    vllm: version(values.vllm ?? '0.32'),
    models: models(values),
    chunkDelayMs: delay('--chunk-delay-ms', values['chunk-delay-ms']),
    tokenizeDelayMs: delay('--tokenize-delay-ms', values['tokenize-delay-ms']),
    ...tls(values),
    enableScaleOut: values['enable-scale-out'] ?? false,
    trustRequestChatTemplate: values['trust-request-chat-template'] ?? false,
    excludeToolsWhenToolChoiceNone: values['exclude-tools-when-tool-choice-none'] ?? false,
    defaultChatTemplateKwargs: jsonObject(values['default-chat-template-kwargs'] ?? '{}'),
    enableAutoToolChoice: !(values['no-enable-auto-tool-choice'] ?? false),
    enablePromptTokensDetails: !(values['no-enable-prompt-tokens-details'] ?? false),
    ...(values['api-key'] === undefined ? {} : { apiKey: values['api-key'] }),
    ...(values['reasoning-parser'] === undefined ? {} : { reasoningParser: values['reasoning-parser'] }),
  };
}

function parseFlags(argv: readonly string[]): Values {
  try {
    return parseArgs({ args: [...argv], options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new SimulatorUsageError((error as Error).message);
  }
}

function version(text: string): VllmVersion {
  const found = vllmVersions.find((candidate) => candidate === text);
  if (found === undefined)
    throw new SimulatorUsageError(`--vllm: ${text} is none of ${vllmVersions.join(', ')}`);
  return found;
}

function models(values: Values): ServedModel[] {
  const common = values['max-model-len'];
  const length = common === undefined ? defaultMaxModelLen : wholeNumber('--max-model-len', common, 1);
  const served = (values.model ?? [defaultModelName]).map((text) => model(text, length));
  const ids = new Set(served.map(({ id }) => id));
  if (ids.size < served.length) throw new SimulatorUsageError('--model: a name is given twice');
  const aliases = (values['served-model-name'] ?? []).filter((name) => !ids.has(name));
  return served.map((one, index) => (index === 0 && aliases.length > 0 ? { ...one, aliases } : one));
}

function model(text: string, length: number): ServedModel {
  const at = text.lastIndexOf('=');
  const id = at < 0 ? text : text.slice(0, at);
  if (id === '') throw new SimulatorUsageError(`--model: ${text} has no name; write NAME or NAME=LENGTH`);
  return { id, maxModelLen: at < 0 ? length : wholeNumber(`--model ${id}`, text.slice(at + 1), 1) };
}

function wholeNumber(flag: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new SimulatorUsageError(`${flag}: ${text} is no whole number ${range}`);
}

function delay(flag: string, text = '0'): number {
  return wholeNumber(flag, text, 0, longestDelay);
}

function tls(values: Values): Pick<SimulatorOptions, 'tls'> {
  const { 'tls-cert': cert, 'tls-key': key } = values;
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined)
    throw new SimulatorUsageError('--tls-cert and --tls-key belong together');
  return { tls: { cert: pem('--tls-cert', cert), key: pem('--tls-key', key) } };
}

function pem(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SimulatorUsageError(`${flag}: ${(error as Error).message}`);
  }
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // reported below, with the values of other types
  }
  throw new SimulatorUsageError(`--default-chat-template-kwargs: ${text} is no JSON object`);
}
