import { startRefusal } from '../budget/window.js';
import type { ContextManager } from '../engines/context-manager.js';
import type { ModelRegistry } from '../upstream/model-registry.js';

/** What is in force for one model, as `/incontext/status` and `check` show it. Token counts. */
export interface ModelStatus {
  readonly id: string;
  readonly context_length: number | null;
  readonly window: number | null;
  readonly reserve: number;
  readonly fallback_margin: number;
  /** Its window has no room for reserve and margin: its requests pass unchanged. */
  readonly degraded: boolean;
}

interface StatusParts {
  readonly models: ModelRegistry;
  readonly engine: ContextManager;
}

/** What is in force for every model that the upstream lists or the operator configured. */
export function modelStatuses(parts: StatusParts): ModelStatus[] {
  return parts.models.ids().map((id) => modelStatus(id, parts));
}

function modelStatus(id: string, { models, engine }: StatusParts): ModelStatus {
  const { contextLength, reserve, margin } = models.resolve(id);
  const window = contextLength === undefined ? undefined : engine.window(id, contextLength);
  return {
    id,
    context_length: contextLength ?? null,
    window: window ?? null,
    reserve,
    fallback_margin: margin,
    degraded: window !== undefined && startRefusal({ window, reserve, margin }) !== undefined,
  };
}
