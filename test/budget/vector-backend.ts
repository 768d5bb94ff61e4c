import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Backend } from '../../src/backends/contract.js';
import { createVllmBackend } from '../../src/backends/vllm/vllm-backend.js';
import type { CapField } from '../../src/budget/cap-field.js';
import { imageSample } from '../backends/support/tokenizer-stub.js';

export interface BackendCase {
  readonly kind: 'strict' | 'vllm';
  readonly limit?: number | null;
  readonly limit_raises?: boolean;
  readonly field_raises?: boolean;
  readonly coerce_raises?: boolean;
  readonly field_map?: Partial<Record<CapField, CapField>>;
}

/** What the counter of a case answers: a number of tokens, or nothing. */
export interface CounterCase {
  readonly tokens?: number;
  readonly fails?: boolean;
}

/** The plain contract of a case: its counter, and the hooks that it names. */
export function strictBackend(backend: BackendCase, counter: CounterCase): Backend {
  const fail = (): never => {
    throw new Error('the hook of this case fails');
  };
  return {
    source: 'fake',
    describe: async () => undefined,
    count: async () => (counter.tokens === undefined ? fail() : { tokens: counter.tokens }),
    clearCache: () => {},
    outputBudgetLimit: () => (backend.limit_raises ? fail() : (backend.limit ?? undefined)),
    outputBudgetField: (field) => (backend.field_raises ? fail() : (backend.field_map?.[field] ?? field)),
    ...(backend.coerce_raises ? { coerceOutputBudget: fail } : {}),
  };
}

/** The real vLLM backend in front of a `/tokenize` that answers what the case's counter says. */
export async function vllmBackend(
  counter: CounterCase,
  contextLength: number,
): Promise<{ backend: Backend; payloads: unknown[]; close(): Promise<void> }> {
  const payloads: unknown[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/version') {
      // Takes token ids that are handed over.
      response.end('{"version":"0.32.0"}');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const sample = imageSample(body);
    if (sample === undefined) payloads.push(JSON.parse(body));
    response.writeHead(counter.fails ? 500 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ count: sample ?? counter.tokens, max_model_len: contextLength, tokens: [] }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const backend = await createVllmBackend({
    options: undefined,
    upstream: `http://127.0.0.1:${port}`,
    tokenizer: {
      url: undefined,
      timeoutSeconds: 5,
      apiKey: undefined,
      userAgent: undefined,
      cacheEntries: 8,
      urlByModel: new Map(),
    },
    tls: { ca: undefined, insecure: false },
    connectTimeoutSeconds: 5,
    observer: {},
  });
  const close = async () => {
    await backend.close?.();
    server.closeAllConnections();
    server.close();
  };
  return { backend, payloads, close };
}
