import { afterEach } from 'vitest';
import type { Backend, BackendContext, CountCall } from '../../../src/backends/contract.js';
import { createVllmBackend, type VllmInternals } from '../../../src/backends/vllm/vllm-backend.js';
import { type RawObject, readBody } from '../../../src/body/raw-object.js';

export function contextFor(
  upstream: string,
  tokenizer: Partial<BackendContext['tokenizer']> = {},
  other: Partial<BackendContext> = {},
): BackendContext {
  return {
    options: undefined,
    upstream,
    tokenizer: {
      url: undefined,
      timeoutSeconds: 30,
      apiKey: undefined,
      userAgent: undefined,
      cacheEntries: 64,
      urlByModel: new Map(),
      ...tokenizer,
    },
    tls: { ca: undefined, insecure: false },
    connectTimeoutSeconds: 5,
    observer: {},
    ...other,
  };
}

const open = new Set<Backend>();
afterEach(async () => {
  await Promise.all([...open].map((backend) => backend.close?.()));
  open.clear();
});

/** A backend that is closed after the test. */
export function vllm(context: BackendContext, internals?: VllmInternals): Backend {
  const backend = createVllmBackend(context, { examines: false, ...internals });
  open.add(backend);
  return backend;
}

export function callOf(call: Partial<CountCall> = {}): CountCall {
  return {
    signal: new AbortController().signal,
    credential: undefined,
    contextLength: 65_536,
    configured: true,
    ...call,
  };
}

export function requestOf(body: string | Buffer | object): RawObject {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const read = readBody(bytes);
  if (read.kind !== 'object') throw new Error('the test request is no JSON object');
  return read.object;
}

export const HELLO = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

/** What a failed count was rejected with. */
export async function failureOf(count: Promise<unknown>): Promise<{ name: string; code: unknown }> {
  try {
    await count;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name: error.name, code: Reflect.get(error, 'code') };
  }
  throw new Error('the count did not fail');
}

export const failed = (code: string) => ({ name: 'CountFailedError', code });
export const MODEL_UNKNOWN = { name: 'ModelUnknownError', code: undefined };
