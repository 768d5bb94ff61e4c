import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy, type TestProxy, told } from '../../support/proxy.js';
import type { Shapes } from './chat-parts.js';
import { outcomeOf, Recorded } from './outcome.js';
import { postTo, type Server } from './servers.js';

const RECORDING = process.env.INCONTEXT_RECORD !== undefined;

interface Asked {
  readonly path: string;
  readonly shapes: Shapes;
  /** The file of recorded outcomes; without one the proxy is held to the server alone. */
  readonly table: string | undefined;
  /** Also holds `/tokenize`, asked with the same body, to the table. */
  readonly tokenize?: boolean;
  /** Shapes that the proxy says it can only estimate. */
  readonly estimated?: (shape: string) => boolean;
  /** Shapes whose usage is of several prompts: the largest has to fit. */
  readonly largest?: Readonly<Record<string, number>>;
}

/**
 * Holds a server to what real ones were recorded to do with each shape, and the proxy before it to the server:
 * a count that it calls exact is the usage.
 */
export function holdToTable(server: Server, asked: Asked): void {
  const recorded = asked.table === undefined ? undefined : new Recorded(asked.table);
  const column = (what: string): string => `${server.version} ${server.setup} ${what}`;
  let proxy: TestProxy;

  beforeAll(async () => {
    proxy = await startProxy({ upstream: server.url });
    await proxy.ready();
  });
  afterAll(() => proxy.close());

  const outcomes = async (shape: string, path: string, what: string): Promise<void> => {
    if (recorded === undefined) return;
    const outcome = await outcomeOf(await postTo(server, path, asked.shapes[shape] as string));
    if (RECORDING && server.isReal) recorded.set(shape, column(what), outcome);
    else expect(outcome).toEqual(recorded.outcome(shape, column(what)));
  };

  test.each(Object.keys(asked.shapes))('%s', async (shape) => {
    await outcomes(shape, asked.path, 'usage');
    if (asked.tokenize) await outcomes(shape, '/tokenize', 'count');
    const answer = await postTo({ ...server, url: proxy.url }, asked.path, asked.shapes[shape] as string);
    const usage = await outcomeOf(answer);
    if (typeof usage !== 'number') return;
    const exact = { source: 'vllm-tokenize', 'prompt-tokens': String(asked.largest?.[shape] ?? usage) };
    expect(told(answer)).toMatchObject(
      asked.estimated?.(shape) === true ? { source: 'rough-fallback' } : exact,
    );
  });

  if (RECORDING && server.isReal) afterAll(() => recorded?.write());
}
