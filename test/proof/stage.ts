import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAI } from 'openai';
import { simulator } from '../support/simulator.js';
import { clientOf, complete } from './player.js';
import { type ProxyProcess, startProxyProcess } from './proxy-process.js';
import type { WireAssistant, WireFunction, WireMessage } from './recording.js';
import { type Relay, type Reply, startRelay, type Upstreamed } from './relay.js';
import type { Summariser } from './summariser.js';
import { TokenMeter } from './tokens.js';

/** The engine that the proofs are about; another one, and another context length, only to try the harness. */
export const PROVED_ENGINE = process.env.PROOF_ENGINE ?? 'compressor';

/** As shipped, unless the sources are to be proved without a build. */
export const PROVED_CODE = process.env.PROOF_CODE === 'src' ? 'src' : 'dist';

export interface StageOptions {
  readonly contextLength?: number;
  readonly answer?: (asked: Upstreamed) => Reply;
  readonly summaryDelayMs?: number;
}

/** Simulator, relay and proxy, and clients of it. */
export interface Stage {
  readonly relay: Relay;
  readonly proxy: ProxyProcess;
  readonly meter: TokenMeter;
  /** Sends a whole history as `run` and gives the answer. */
  send(run: string, messages: readonly WireMessage[], options?: SendOptions): Promise<WireAssistant>;
  /** What went upstream for a run. */
  of(run: string): Upstreamed[];
  /** What the engine asked on its own. */
  summaries(): Upstreamed[];
  close(): Promise<void>;
}

export interface SendOptions {
  readonly apiKey?: string;
  readonly stream?: boolean;
  readonly tools?: readonly WireFunction[];
}

const SYSTEM = 'You are a helpful assistant. Answer briefly.';
const MARK = /mark-[a-z0-9]+/g;

export async function stage(options: StageOptions = {}): Promise<Stage> {
  const { contextLength = Number(process.env.PROOF_CONTEXT ?? 8192), summaryDelayMs = 0 } = options;
  const models = [{ id: 'simulated', maxModelLen: contextLength }];
  const upstream = await simulator({ vllm: '0.16', models });
  const meter = new TokenMeter(upstream.url);
  const relay = await startRelay({
    simulatorUrl: upstream.url,
    meter,
    answer: options.answer ?? repeatRun,
    summarise: markSummariser(),
    summaryDelayMs,
  });
  const dataDir = await mkdtemp(join(tmpdir(), 'incontext-proof-'));
  const proxy = await startProxyProcess({
    upstream: relay.url,
    dataDir,
    engine: PROVED_ENGINE,
    code: PROVED_CODE,
  });
  const close = async (): Promise<void> => {
    await proxy.close();
    await relay.close();
    await upstream.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return {
    relay,
    proxy,
    meter,
    send: senderTo(proxy.url),
    of: (run) => relay.seen.filter((one) => one.run === run),
    summaries: () => relay.seen.filter((one) => one.run === undefined),
    close,
  };
}

function senderTo(proxyUrl: string): Stage['send'] {
  const clients = new Map<string, OpenAI>();
  return async (run, messages, { apiKey = 'proof', stream = false, tools } = {}) => {
    const client = clients.get(apiKey) ?? clientOf(proxyUrl, apiKey);
    clients.set(apiKey, client);
    const body = {
      model: 'simulated',
      messages: [{ role: 'system' as const, content: SYSTEM }, ...messages],
      ...(tools === undefined ? {} : { tools: [...tools] }),
      max_tokens: 512,
    };
    return (await complete(client, body, `${run}/${messages.length}`, stream)).message;
  };
}

function repeatRun({ run, step }: Upstreamed): Reply {
  return { message: { role: 'assistant', content: `Answer ${step} of ${run}. All is noted.` } };
}

/** Names every mark that it was shown, and itself: `summary-N`. */
export function markSummariser(): Summariser {
  let calls = 0;
  return async (prompt) => {
    calls += 1;
    const marks = [...new Set(prompt.match(MARK) ?? [])];
    const text = `## Goal\nThe user goes on as before.\n## Critical Context\n- summary-${calls}\n- ${marks.join(' ')}`;
    return { text, finish: 'stop' };
  };
}
