import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerFrom } from './answers.js';
import { type Measures, measure } from './measures.js';
import { type Outcome, play } from './player.js';
import { type ProxyProcess, startProxyProcess } from './proxy-process.js';
import type { Recording } from './recording.js';
import { startRelay, type Upstreamed } from './relay.js';
import { type SummariserKind, scriptedSummariser } from './summariser.js';
import { TokenMeter } from './tokens.js';

export interface ProofOptions {
  readonly recording: Recording;
  /** A simulator of vLLM 0.16, which refuses what is over its context length, with this context length. */
  readonly simulatorUrl: string;
  readonly contextLength: number;
  readonly engine: string;
  readonly summariser: SummariserKind;
  readonly code: 'dist' | 'src';
  /** The place in the recording before which the proxy is killed and started again. */
  readonly killAt?: number;
  /** All before this place is the client's history already when it sends its first request. */
  readonly coldFrom?: number;
  readonly flags?: Readonly<Record<string, string>>;
  readonly maxTokens?: number;
  /** A proxy that is running already, in place of the real one. */
  readonly proxyFor?: (upstream: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly onProgress?: (at: number, of: number) => void;
  readonly onRequest?: (seen: Upstreamed) => void;
}

export interface Proof {
  readonly measures: Measures;
  readonly seen: readonly Upstreamed[];
  readonly outcomes: readonly Outcome[];
  /** What the proxy wrote, of all its processes. */
  readonly output: string;
}

/** Plays a recording through the proxy and measures what came upstream. */
export async function prove(options: ProofOptions): Promise<Proof> {
  const { recording, simulatorUrl, contextLength, onRequest } = options;
  const meter = new TokenMeter(simulatorUrl);
  const summarise = scriptedSummariser(options.summariser, recording, meter);
  const relay = await startRelay({
    simulatorUrl,
    meter,
    summarise,
    answer: answerFrom(recording),
    ...(onRequest === undefined ? {} : { onRequest }),
  });
  const dataDir = await mkdtemp(join(tmpdir(), 'incontext-proof-'));
  const proxies = new Proxies(options, relay.url, dataDir);
  try {
    const proxyUrl = await proxies.start();
    const outcomes = await play({
      proxyUrl,
      recording,
      run: recording.name,
      maxTokens: options.maxTokens ?? 512,
      ...(options.coldFrom === undefined ? {} : { from: options.coldFrom }),
      before: async (at) => {
        options.onProgress?.(at, recording.messages.length);
        if (at === options.killAt) await proxies.replace();
      },
    });
    const measures = measure({ recording, contextLength, outcomes, seen: relay.seen });
    return { measures, seen: relay.seen, outcomes, output: proxies.output() };
  } finally {
    await proxies.close();
    await relay.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The process that serves now, and what those before it wrote. */
class Proxies {
  private running: ProxyProcess | undefined;
  private other: { close(): Promise<void> } | undefined;
  private written = '';

  constructor(
    private readonly options: ProofOptions,
    private readonly upstream: string,
    private readonly dataDir: string,
  ) {}

  async start(port = 0): Promise<string> {
    const { proxyFor, engine, code, flags = {} } = this.options;
    if (proxyFor !== undefined) {
      const proxy = await proxyFor(this.upstream);
      this.other = proxy;
      return proxy.url;
    }
    const { upstream, dataDir } = this;
    this.running = await startProxyProcess({ upstream, dataDir, engine, code, port, flags });
    return this.running.url;
  }

  /** Kills it and starts another in its place. */
  async replace(): Promise<void> {
    const port = this.running?.port;
    await this.running?.kill();
    this.written += this.running?.output() ?? '';
    await this.start(port);
  }

  output(): string {
    return this.written + (this.running?.output() ?? '');
  }

  async close(): Promise<void> {
    await this.running?.close();
    await this.other?.close();
  }
}
