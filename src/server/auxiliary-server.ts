import { createAutoBackend } from '../backends/auto/auto-backend.js';
import type { Settings } from '../config/settings.js';
import type { AuxiliaryParts } from '../exchange/auxiliary.js';
import { CountDrift } from '../exchange/count-drift.js';
import type { Metrics } from '../observe/metrics.js';
import { createUpstreamAgent, createUpstreamConnector } from '../upstream/agent.js';
import { Forwarder } from '../upstream/forwarder.js';
import { ModelRegistry } from '../upstream/model-registry.js';
import { backendContext } from './backend-context.js';

/** Where an engine's own requests go, and how they are counted there. */
export function auxiliaryServer(settings: Settings, metrics: Metrics): AuxiliaryParts['auxiliary'] {
  const { upstream, compression, tokenizer } = settings;
  const { summaryUrl, summaryApiKey, summaryModel, summaryThinking } = compression;
  const timeoutSeconds = compression.summaryTimeoutSeconds;
  if (summaryUrl === undefined) {
    const asksNotToThink = tokenizer.backend === 'vllm' && !summaryThinking;
    return { server: undefined, timeoutSeconds, asksNotToThink };
  }
  const connect = createUpstreamConnector(upstream);
  const forwarder = new Forwarder(() => createUpstreamAgent(upstream, connect), summaryUrl);
  const counting = {
    backend: createAutoBackend({
      ...backendContext(settings, metrics.backend),
      options: undefined,
      upstream: summaryUrl,
      tokenizer: { ...tokenizer, url: undefined, apiKey: summaryApiKey, urlByModel: new Map() },
    }),
    models: new ModelRegistry({
      ...settings,
      budget: { ...settings.budget, contextLength: undefined },
      models: new Map(),
    }),
    drift: new CountDrift(),
    upstream: { reachable: true },
  };
  const server = { forwarder, apiKey: summaryApiKey, model: summaryModel, counting };
  return { server, timeoutSeconds, asksNotToThink: false };
}
