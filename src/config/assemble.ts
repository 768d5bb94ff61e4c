import { resolve } from 'node:path';
import type { Blocks } from './file-blocks.js';
import type { Settings } from './settings.js';
import type { Values } from './table.js';

/** A data folder that is none: everything is forgotten at the end. */
const IN_MEMORY = ':memory:';

/** What the settings need beside their own values. */
export interface Surroundings {
  /** Relative paths start here. */
  readonly cwd: string;
  /** The content of the file that `UPSTREAM_CA` names. */
  readonly ca: string | undefined;
  readonly pluginsBase: string;
  readonly blocks: Blocks;
}

/** Sorts the values, by name, into the shape that the rest of the program reads. */
export function assemble(values: Values, { cwd, ca, pluginsBase, blocks }: Surroundings): Settings {
  return {
    ...network(values, cwd, ca),
    ...policy(values, cwd),
    ...blocks,
    pluginsBase,
  };
}

function network(values: Values, cwd: string, ca: string | undefined): Pick<Settings, 'upstream' | 'server'> {
  return {
    upstream: {
      url: values.UPSTREAM_URL,
      apiKey: values.UPSTREAM_API_KEY,
      ca,
      insecure: values.UPSTREAM_INSECURE,
      connectTimeoutSeconds: values.UPSTREAM_CONNECT_TIMEOUT_SECONDS,
      headersTimeoutSeconds: values.UPSTREAM_HEADERS_TIMEOUT_SECONDS,
      bodyTimeoutSeconds: values.UPSTREAM_BODY_TIMEOUT_SECONDS,
    },
    server: {
      host: values.HOST,
      port: values.PORT,
      pathPrefix: values.PATH_PREFIX,
      dataDir: values.DATA_DIR === IN_MEMORY ? IN_MEMORY : resolve(cwd, values.DATA_DIR),
      logLevel: values.LOG_LEVEL,
      bodyLimit: values.BODY_LIMIT,
      drainSeconds: values.DRAIN_SECONDS,
      apiKeys: values.API_KEYS,
      adminToken: values.ADMIN_TOKEN,
      tenant: values.TENANT,
    },
  };
}

function policy(
  values: Values,
  cwd: string,
): Pick<Settings, 'budget' | 'tokenizer' | 'context' | 'compression' | 'sessions'> {
  return {
    budget: {
      contextLength: values.CONTEXT_LENGTH,
      compressionWindowTokens: values.COMPRESSION_WINDOW_TOKENS,
      minOutputTokens: values.MIN_OUTPUT_TOKENS,
      fallbackMarginTokens: values.FALLBACK_MARGIN_TOKENS,
      maxOutputTokens: values.MAX_OUTPUT_TOKENS,
    },
    tokenizer: {
      backend: values.BACKEND,
      url: values.TOKENIZER_URL,
      timeoutSeconds: values.TOKENIZER_TIMEOUT_SECONDS,
      apiKey: values.TOKENIZER_API_KEY,
      userAgent: values.TOKENIZER_USER_AGENT,
      cacheEntries: values.TOKENIZER_CACHE_ENTRIES,
    },
    context: {
      engine: values.ENGINE,
      pluginsDir: values.PLUGINS_DIR === undefined ? undefined : resolve(cwd, values.PLUGINS_DIR),
    },
    compression: {
      threshold: values.THRESHOLD,
      contextTimeoutSeconds: values.CONTEXT_TIMEOUT_SECONDS,
      modelThresholds: values.MODEL_THRESHOLDS,
      compressOnEstimate: values.COMPRESS_ON_ESTIMATE,
      prepare: values.PREPARE,
      lowWater: values.LOW_WATER,
      protectFirstN: values.PROTECT_FIRST_N,
      protectLastN: values.PROTECT_LAST_N,
      summaryUrl: values.SUMMARY_URL,
      summaryApiKey: values.SUMMARY_API_KEY,
      summaryModel: values.SUMMARY_MODEL,
      summaryTimeoutSeconds: values.SUMMARY_TIMEOUT_SECONDS,
      summaryThinking: values.SUMMARY_THINKING,
    },
    sessions: {
      retentionDays: values.RETENTION,
      idleSeconds: values.IDLE,
      commands: values.COMMANDS,
      conversationId: values.CONVERSATION_ID,
    },
  };
}
