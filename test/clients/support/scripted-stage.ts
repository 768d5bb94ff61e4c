import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Relay, type Reply, startRelay, type Upstreamed } from '../../proof/relay.js';
import { markSummariser } from '../../proof/stage.js';
import { TokenMeter } from '../../proof/tokens.js';
import { brokenPairs } from '../../proof/tool-pairs.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { simulator } from '../../support/simulator.js';
import { exchanges } from './stage.js';

/** A compressing proxy before a server whose model says what the test says; requests with tools are the client's own. */
export interface ScriptedStage {
  readonly proxy: TestProxy;
  /** Tokens: prompt and cap together have to fit. */
  readonly window: number;
  /** The client's requests as they went upstream, in their order. */
  asked(): Upstreamed[];
  close(): Promise<void>;
}

export interface ScriptedStageOptions {
  readonly contextLength: number;
  readonly answer: (asked: Upstreamed) => Reply;
}

const THRESHOLD = 0.75;

export async function setScriptedStage({
  contextLength,
  answer,
}: ScriptedStageOptions): Promise<ScriptedStage> {
  // This version refuses what is too long, instead of lowering the cap.
  const upstream = await simulator({ vllm: '0.16', models: [{ id: 'tiny', maxModelLen: contextLength }] });
  const relay = await startRelay({
    simulatorUrl: upstream.url,
    meter: new TokenMeter(upstream.url),
    answer,
    summarise: markSummariser(),
    runOf: ({ tools }) => (tools === undefined ? undefined : 'client'),
  });
  const data = mkdtempSync(join(tmpdir(), 'incontext-clients-'));
  const flags = { engine: 'compressor', threshold: String(THRESHOLD), data };
  const proxy = await startProxy({ upstream: relay.url, 'min-output-tokens': '1024', ...flags });
  await proxy.ready();
  return {
    proxy,
    window: Math.floor(contextLength * THRESHOLD),
    asked: () => asked(relay),
    close: async () => {
      await proxy.close();
      await relay.close();
      await upstream.close();
      rmSync(data, { recursive: true });
    },
  };
}

function asked({ seen }: Relay): Upstreamed[] {
  return seen.filter(({ run }) => run !== undefined);
}

/** Nothing was refused, too long, or torn apart, and something was compressed. */
export function expectAllFit({ proxy, window, asked }: ScriptedStage): void {
  const done = exchanges(proxy).filter(({ route }) => route === 'chat_completions');
  expect(new Set(done.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual(
    new Set(['200 complete']),
  );
  expect(done.some(({ reason }) => reason === 'compression_due')).toBe(true);
  for (const { promptIds, cap, request } of asked()) {
    expect(promptIds.length + (cap ?? Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(window);
    expect(brokenPairs(request.messages)).toBe(0);
  }
}
