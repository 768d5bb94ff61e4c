import type { Backend, BackendFactory } from '../backends/contract.js';
import { BodyReader } from '../body/body-reader.js';
import { FormReader } from '../chat-form/form-reader.js';
import type { Settings } from '../config/settings.js';
import { NONE } from '../engines/bundled.js';
import { windowsOnly } from '../engines/choose-engine.js';
import type { HostLimits } from '../engines/host/host-settings.js';
import type { CompleteOptions } from '../engines/services.js';
import { type AuxiliaryParts, completeForEngine } from '../exchange/auxiliary.js';
import { CountDrift } from '../exchange/count-drift.js';
import type { ExchangeParts } from '../exchange/parts.js';
import { createLog, type Log } from '../observe/log.js';
import { createMetrics } from '../observe/metrics.js';
import { Warnings } from '../observe/warnings.js';
import type { ConversationStore } from '../store/conversation-store.js';
import { WAITING_TIMES, type WaitingTimes } from '../stream/waiting-client.js';
import { createUpstreamAgent, createUpstreamConnector } from '../upstream/agent.js';
import { CredentialCheck } from '../upstream/credential-check.js';
import { Forwarder } from '../upstream/forwarder.js';
import { ModelRegistry } from '../upstream/model-registry.js';
import { UpstreamProber } from '../upstream/prober.js';
import { Access } from './access.js';
import { auxiliaryServer } from './auxiliary-server.js';
import { backendContext } from './backend-context.js';
import { chooseBackend } from './choose-backend.js';
import { chooseEngineRegistration, type EngineChoice } from './choose-engine.js';
import { conversationIdIn } from './conversation-id.js';
import { Drain } from './drain.js';
import { loadPlugins } from './load-plugins.js';

export interface AssembleOptions {
  readonly settings: Settings;
  /** Builds the backend. Default: the configured one, bundled or from a plugin; only this one is constructed. */
  readonly backend?: BackendFactory | undefined;
  /** Default: what `context.engine` names, bundled or from a plugin. */
  readonly engine?: EngineChoice | undefined;
  /** Where conversations are kept; closed with the proxy. Default: SQLite in the data folder. */
  readonly store?: ConversationStore | undefined;
  /** Default: on standard error at the configured level. */
  readonly log?: Log | undefined;
  /** Limits of the engine's host in place of its own. */
  readonly hostLimits?: Partial<HostLimits> | undefined;
  /** When a client that waits for a compression hears of it, in place of 2 s and every 10 s. */
  readonly waitingTimes?: WaitingTimes | undefined;
  /** True to drive conversations: opens the store. */
  readonly drivesEngine?: boolean | undefined;
}

/** Everything that serving and explaining need, not listening yet. */
export type Parts = Awaited<ReturnType<typeof assemble>>;

/**
 * Builds the parts of a proxy from its settings.
 * @throws PluginError, EngineRegistryError, EngineSettingsError, BackendRegistryError, BackendSettingsError: nothing is
 * chosen implicitly.
 */
export async function assemble(options: AssembleOptions) {
  const { settings } = options;
  const log = options.log ?? createLog(settings.server.logLevel);
  const { choice, factory } = await choose(options);
  const metrics = createMetrics();
  const warnings = new Warnings(log);
  // Whoever chose it was told.
  if (options.engine === undefined) for (const warning of choice.warnings) log.warn(warning);
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
  const hosted =
    options.drivesEngine === true && choice.kind === 'engine'
      ? await hostedEngine(choice, settings, metrics, warnings, {
          store: options.store,
          limits: options.hostLimits,
        })
      : undefined;
  const engine = hosted?.engine ?? windowsOnly(choice, settings);
  const auxiliary = auxiliaryServer(settings, metrics);
  const parts = {
    settings,
    log,
    metrics,
    warnings,
    bodies: new BodyReader(),
    forms: new FormReader(),
    drift: new CountDrift(),
    backend,
    models,
    prober,
    upstream: prober,
    countSeconds: settings.tokenizer.timeoutSeconds,
    engine,
    tenantOf: hosted?.tenantOf,
    connectUpstream,
    forwarder,
    auxiliary,
    credentials: new CredentialCheck(forwarder),
    obeysCommands: settings.sessions.commands,
    conversationIdIn: conversationIdIn(settings.sessions.conversationId),
    waitingTimes: options.waitingTimes ?? WAITING_TIMES,
    access: new Access(settings),
    drain: new Drain((inFlight) => metrics.inFlight.set(inFlight)),
    /** Ends timers and connections. */
    async close(): Promise<void> {
      prober.stop();
      metrics.close();
      await hosted?.engine.host.close();
      const { server } = auxiliary;
      const backends = [backend, ...(server === undefined ? [] : [server.counting.backend])];
      await Promise.all([forwarder.close(), server?.forwarder.close(), ...backends.map(closeBackend)]);
    },
  };
  const complete: ExchangeParts['complete'] = (messages, asked: CompleteOptions, caller) =>
    completeForEngine(messages, asked, caller, whole);
  const whole: AuxiliaryParts & typeof parts = Object.assign(parts, { complete });
  return whole;
}

/** Loaded only where it is needed: SQLite with it. */
async function hostedEngine(...of: Parameters<typeof import('./engine-host.js').hostEngine>) {
  const { hostEngine } = await import('./engine-host.js');
  return await hostEngine(...of);
}

/** Loads plugins at most once, and not at all where nothing is to be chosen. */
async function choose({ settings, backend, engine }: AssembleOptions) {
  const isNone = settings.context.engine === NONE;
  const isChosen = backend !== undefined && (engine !== undefined || isNone);
  const loaded = isChosen ? undefined : await loadPlugins(settings);
  const none = { kind: 'none', warnings: [] } as const;
  const choice = engine ?? (isNone ? none : await chooseEngineRegistration(settings, loaded));
  const factory = backend ?? (await chooseBackend(settings, loaded));
  return { choice, factory };
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
