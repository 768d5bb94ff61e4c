import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.js';
import { tenantOf } from '../conversation/tenant.js';
import { createCompressor } from '../engines/compressor/compressor.js';
import type { ContextManager } from '../engines/context-manager.js';
import { EngineHost } from '../engines/host/engine-host.js';
import type { HostObserver } from '../engines/host/host-observer.js';
import { type HostLimits, hostSettings } from '../engines/host/host-settings.js';
import type { RegisteredEngine } from '../engines/registration.js';
import type { Metrics } from '../observe/metrics.js';
import type { Warnings } from '../observe/warnings.js';
import type { ConversationStore } from '../store/conversation-store.js';
import { openConversationStore } from '../store/open-conversation-store.js';
import { othersMayWrite } from '../store/open-folder.js';

/** The engine's host, and whose request is whose. */
export interface HostedEngine {
  readonly engine: ContextManager & { readonly host: EngineHost };
  tenantOf(request: IncomingMessage): string;
}

export interface HostedOptions {
  /** Default: SQLite in the data folder. */
  readonly store?: ConversationStore | undefined;
  readonly limits?: Partial<HostLimits> | undefined;
}

/**
 * Opens the store of conversations and drives an engine on it.
 * @throws StoreError where the data folder cannot be used.
 */
export async function hostEngine(
  registered: RegisteredEngine,
  settings: Settings,
  metrics: Metrics,
  warnings: Warnings,
  { store: given, limits }: HostedOptions = {},
): Promise<HostedEngine> {
  const store = given ?? (await openStore(settings.server.dataDir, warnings));
  const key = await store.secret('tenant');
  const host = new EngineHost({
    registered,
    builtIn: { create: createCompressor, options: settings.engines.get('compressor') },
    settings: hostSettings(settings, registered.name),
    store,
    observer: observerOf(metrics, warnings),
    limits,
  });
  const { tenant } = settings.server;
  return {
    engine: { name: registered.name, window: (model, length) => host.window(model, length), host },
    tenantOf: ({ headers }) =>
      tenantOf(
        tenant,
        {
          credential: credentialOf(headers),
          header: (name) => {
            const value = headers[name.toLowerCase()];
            return Array.isArray(value) ? value.join(', ') : value;
          },
        },
        key,
      ),
  };
}

async function openStore(folder: string, warnings: Warnings): Promise<ConversationStore> {
  const store = await openConversationStore({ folder, onRestart: () => warnings.storeRestarted() });
  if (othersMayWrite(folder)) warnings.dataFolderOpen();
  return store;
}

/** All that a client may authenticate with: Anthropic's send an `x-api-key`. */
function credentialOf({ authorization, 'x-api-key': key }: IncomingHttpHeaders): string | undefined {
  return key === undefined ? authorization : `${authorization ?? ''}\n${String(key)}`;
}

function observerOf(metrics: Metrics, warnings: Warnings): HostObserver {
  return {
    compressed: (result) => metrics.compressed(result),
    passFailed: (reason, error) => warnings.passFailed(reason, error),
    hookFailed: (hook, error) => warnings.hookFailed(hook, error),
    cloneFailed: (engine, error) => warnings.cloneFailed(engine, error),
    storeFailed: (error) => warnings.storeFailed(error),
    headChanged: () => warnings.headChanged(),
    log: (level, code, counts) => warnings.ofEngine(level, code, counts),
  };
}
