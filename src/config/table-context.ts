import { decimal, integer, onOff, seconds } from './kind.js';
import { thresholdTable } from './kind-table.js';
import { credential, headerValue, path, text } from './kind-text.js';
import { endpointUrl, upstreamUrl } from './kind-url.js';
import { optional, setting } from './setting.js';

const MOST_CACHE_ENTRIES = 1_000_000;
const tokens = integer({ min: 1 });
const share = decimal({ min: 0, max: 1, above: true });
const shareOrZero = decimal({ min: 0, max: 1 });

/** The sections `budget`, `tokenizer`, `context` and `compression`. */
export const CONTEXT_SETTINGS = {
  CONTEXT_LENGTH: optional({
    section: 'budget',
    kind: tokens,
    unset: 'asked from the upstream',
    example: '131072',
    description: "The model's context length in tokens, prompt and answer together.",
  }),
  COMPRESSION_WINDOW_TOKENS: optional({
    section: 'budget',
    kind: tokens,
    unset: 'worked out from the context length',
    example: '98304',
    aliases: ['HERMES_DYNAMIC_BUDGET_COMPRESSION_WINDOW_TOKENS'],
    description: 'The compression window in tokens: prompt and answer are fitted into it.',
  }),
  MIN_OUTPUT_TOKENS: setting({
    section: 'budget',
    kind: tokens,
    default: 4096,
    example: '4096',
    aliases: ['HERMES_DYNAMIC_BUDGET_MIN_OUTPUT_TOKENS'],
    description: 'The reserve: room in tokens that an answer needs at least to be of use.',
  }),
  FALLBACK_MARGIN_TOKENS: setting({
    section: 'budget',
    kind: integer({ min: 0 }),
    default: 1024,
    example: '1024',
    aliases: ['HERMES_DYNAMIC_BUDGET_FALLBACK_MARGIN_TOKENS'],
    description: 'Added to the estimate of a prompt when it cannot be counted exactly.',
  }),
  MAX_OUTPUT_TOKENS: optional({
    section: 'budget',
    kind: tokens,
    unset: 'no limit of its own',
    example: '8192',
    description: 'The largest output of any request in tokens. Below the reserve it lowers the reserve.',
  }),
  BACKEND: setting({
    section: 'tokenizer',
    kind: text,
    default: 'vllm',
    example: 'vllm',
    aliases: ['HERMES_DYNAMIC_BUDGET_BACKEND'],
    description: 'Which kind of server the upstream is: the name of the backend that counts.',
  }),
  TOKENIZER_URL: optional({
    section: 'tokenizer',
    kind: endpointUrl,
    unset: '/tokenize on the upstream',
    example: 'http://127.0.0.1:8000/tokenize',
    aliases: ['HERMES_VLLM_TOKENIZER_URL'],
    description: 'The endpoint that counts prompts. It sees every prompt.',
  }),
  TOKENIZER_TIMEOUT_SECONDS: setting({
    section: 'tokenizer',
    kind: seconds('positive'),
    default: 30,
    example: '30',
    aliases: ['HERMES_VLLM_TOKENIZER_TIMEOUT_SECONDS'],
    description: 'How long one count may take before the prompt is estimated.',
  }),
  TOKENIZER_API_KEY: optional({
    section: 'tokenizer',
    kind: credential,
    secret: true,
    unset: "the upstream's, and on its own origin only",
    example: 'sk-tokenizer',
    description: 'The bearer token for the tokenizer endpoint.',
  }),
  TOKENIZER_USER_AGENT: optional({
    section: 'tokenizer',
    kind: headerValue,
    unset: "the proxy's name and version",
    example: 'incontext-proxy',
    aliases: ['HERMES_VLLM_TOKENIZER_USER_AGENT'],
    description: 'The user agent of counting requests.',
  }),
  TOKENIZER_CACHE_ENTRIES: setting({
    section: 'tokenizer',
    kind: integer({ min: 1, max: MOST_CACHE_ENTRIES }),
    default: 4096,
    example: '4096',
    description: 'How many counts are remembered.',
  }),
  ENGINE: setting({
    section: 'context',
    kind: text,
    default: 'compressor',
    example: 'compressor',
    description: 'The context engine that compresses conversations. none: only output caps are fitted.',
  }),
  PLUGINS_DIR: optional({
    section: 'context',
    kind: path,
    unset: 'no folder',
    example: './plugins',
    description: 'A folder of context engines, each in a folder of its name.',
  }),
  THRESHOLD: setting({
    section: 'compression',
    kind: share,
    default: 0.75,
    example: '0.75',
    description: 'The part of the context length at which an engine compresses.',
  }),
  CONTEXT_TIMEOUT_SECONDS: setting({
    section: 'compression',
    kind: seconds('or zero'),
    default: 120,
    example: '120',
    description: 'How long all compression passes of one request may take. 0: without limit.',
  }),
  MODEL_THRESHOLDS: setting({
    section: 'compression',
    kind: thresholdTable,
    default: {},
    only: 'file',
    example: '{ qwen3: 0.7 }',
    description:
      "Thresholds by a part of the model's name. The longest part that fits wins, the first of equals.",
  }),
  COMPRESS_ON_ESTIMATE: setting({
    section: 'compression',
    kind: onOff,
    default: true,
    only: 'file',
    example: 'true',
    description: 'Whether an estimate, made when exact counting failed, may start a compression.',
  }),
  PREPARE: setting({
    section: 'compression',
    kind: shareOrZero,
    default: 0.8,
    only: 'file',
    example: '0.8',
    description:
      'The part of the way to a compression at which the next one is prepared in the background. 0: never.',
  }),
  LOW_WATER: setting({
    section: 'compression',
    kind: share,
    default: 0.6,
    only: 'file',
    example: '0.6',
    description: 'The part of window less reserve that a compression aims to get below.',
  }),
  PROTECT_FIRST_N: setting({
    section: 'compression',
    kind: integer({ min: 0 }),
    default: 3,
    only: 'file',
    example: '3',
    description: 'Messages at the start, after the system prompt, that are never compressed.',
  }),
  PROTECT_LAST_N: setting({
    section: 'compression',
    kind: integer({ min: 0 }),
    default: 20,
    only: 'file',
    example: '20',
    description: 'Messages at the end that are never compressed.',
  }),
  SUMMARY_URL: optional({
    section: 'compression',
    kind: upstreamUrl,
    unset: "the caller's upstream",
    example: 'http://127.0.0.1:8000',
    description:
      "The server that writes summaries: an engine's own requests go there, with a key of its own.",
  }),
  SUMMARY_API_KEY: optional({
    section: 'compression',
    kind: credential,
    secret: true,
    unset: "the caller's, on its own upstream only",
    example: 'sk-summary',
    description: "The bearer token for summary_url. The caller's credential never goes there.",
  }),
  SUMMARY_MODEL: optional({
    section: 'compression',
    kind: text,
    unset: 'the model of the request',
    example: 'qwen3-8b',
    description: 'The model that writes summaries on summary_url.',
  }),
  SUMMARY_TIMEOUT_SECONDS: setting({
    section: 'compression',
    kind: seconds('positive'),
    default: 60,
    example: '60',
    description: 'How long one summary may take before the engine does without the model.',
  }),
  SUMMARY_THINKING: setting({
    section: 'compression',
    kind: onOff,
    default: false,
    only: 'file',
    example: 'true',
    description:
      'Whether the model may think before it writes a summary. Only backend vllm can ask it not to.',
  }),
};

/** What `models.<id>` in the file overrides for one model. */
export const MODEL_SETTINGS = {
  context_length: { kind: tokens, example: '131072' },
  tokenizer_url: { kind: endpointUrl, example: 'http://127.0.0.1:8000/tokenize' },
  threshold: { kind: share, example: '0.75' },
  min_output_tokens: { kind: tokens, example: '4096' },
  max_output_tokens: { kind: tokens, example: '8192' },
};
