import type { Backend, BackendFactory } from '../backends/contract.js';
import { BodyReader } from '../body/body-reader.js';
import type { Settings } from '../config/settings.js';
import { chooseEngine } from '../engines/choose-engine.js';
import { createLog, type Log } from '../observe/log.js';
import { createMetrics } from '../observe/metrics.js';
import { Warnings } from '../observe/warnings.js';
import { createUpstreamAgent, createUpstreamConnector } from '../upstream/agent.js';
import { Forwarder } from '../upstream/forwarder.js';
import { ModelRegistry } from '../upstream/model-registry.js';
import { UpstreamProber } from '../upstream/prober.js';
import { Access } from './access.js';
import { chooseBackend } from './choose-backend.js';
import { Drain } from './drain.js';

export interface AssembleOptions {
  readonly settings: Settings;
  /** Builds the backend. Default: the configured one, bundled or from a plugin; only this one is constructed. */
  readonly backend?: BackendFactory | undefined;
  /** Default: on standard error at the configured level. */
  readonly log?: Log | undefined;
}

/** Everything that serving and explaining need, not listening yet. */
export type Parts = Awaited<ReturnType<typeof assemble>>;

/**
 * Builds the parts of a proxy from its settings.
 * @throws UnknownEngineError, PluginError, BackendRegistryError, BackendSettingsError: nothing is chosen implicitly.
 */
export async function assemble(options: AssembleOptions) {
  const { settings } = options;
  const log = options.log ?? createLog(settings.server.logLevel);
  const engine = chooseEngine(settings);
  const factory = options.backend ?? (await chooseBackend(settings));
  const metrics = createMetrics();
  const backend = await factory(backendContext(settings, metrics.backend));
  const models = new ModelRegistry(settings);
  const { upstream } = settings;
  const prober = new UpstreamProber({
    backend,
    credential: upstream.apiKey === undefined ? undefined : `Bearer ${upstream.apiKey}`,
    log,
    onModels: (listed) => models.list(listed),
  });
  const connectUpstream = createUpstreamConnector(upstream);
  const forwarder = new Forwarder(() => createUpstreamAgent(upstream, connectUpstream), upstream.url);
  return {
    settings,
    log,
    metrics,
    warnings: new Warnings(log),
    bodies: new BodyReader(),
    backend,
    models,
    prober,
    upstream: prober,
    countSeconds: settings.tokenizer.timeoutSeconds,
    engine,
    connectUpstream,
    forwarder,
    access: new Access(settings),
    drain: new Drain((inFlight) => metrics.inFlight.set(inFlight)),
    /** Ends timers and connections. */
    async close(): Promise<void> {
      prober.stop();
      metrics.close();
      await Promise.all([forwarder.close(), closeBackend(backend)]);
    },
  };
}

const BACKEND_CLOSE_MS = 2000;

/** A backend of a third party must not keep the process from ending. */
async function closeBackend(backend: Backend): Promise<void> {
  const late = new Promise<void>((resolve) => {
    setTimeout(resolve, BACKEND_CLOSE_MS).unref();
  });
  try {
    await Promise.race([backend.close?.(), late]);
  } catch {
    // It ends anyway.
  }
}

function backendContext(settings: Settings, observer: Parameters<BackendFactory>[0]['observer']) {
  const { upstream, tokenizer } = settings;
  const urlByModel = new Map<string, string>();
  for (const [id, { tokenizerUrl }] of settings.models) {
    if (tokenizerUrl !== undefined) urlByModel.set(id, tokenizerUrl);
  }
  return {
    options: settings.backends.get(tokenizer.backend),
    upstream: upstream.url,
    tokenizer: { ...tokenizer, urlByModel },
    tls: { ca: upstream.ca, insecure: upstream.insecure },
    connectTimeoutSeconds: upstream.connectTimeoutSeconds,
    observer,
  };
}
