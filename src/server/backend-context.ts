import type { BackendContext } from '../backends/contract.js';
import type { Settings } from '../config/settings.js';

/** What a backend is built from. */
export function backendContext(settings: Settings, observer: BackendContext['observer']): BackendContext {
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
