import type { ConversationStore } from '../../store/conversation-store.js';
import { cloneEngine } from '../clone-engine.js';
import type { ContextEngine, EngineContext, EngineFactory, SessionStart } from '../contract.js';
import type { RegisteredEngine } from '../registration.js';
import type { EngineServices } from '../services.js';
import { withinTime } from './deadline.js';
import { EngineInstance, type OnHookFailed } from './engine-instance.js';
import type { HostLimits, HostSettings } from './host-settings.js';
import { LentServices } from './lent-services.js';

/** The engine that serves a conversation whose own cannot be cloned. */
export interface BuiltInEngine {
  readonly create: EngineFactory;
  /** The block `engines.<name>` of its own. */
  readonly options: unknown;
}

export interface InstanceParts {
  readonly registered: RegisteredEngine;
  readonly builtIn: BuiltInEngine;
  readonly settings: HostSettings;
  readonly limits: Pick<HostLimits, 'hookMs'>;
  readonly store: Pick<ConversationStore, 'engineState'>;
  readonly log: EngineServices['log'];
  readonly onCloneFailed: (error: unknown) => void;
  readonly onHookFailed: OnHookFailed;
}

/** Makes the engine of each conversation from the one that is registered. */
export class EngineInstances {
  constructor(private readonly parts: InstanceParts) {}

  async of(conversation: string, start: SessionStart): Promise<EngineInstance> {
    const { store, log, settings, limits, onHookFailed } = this.parts;
    const services = new LentServices({ stored: (key) => store.engineState(conversation, key), log });
    const engine = await this.#clone(services);
    const instance = new EngineInstance(engine, services, settings, onHookFailed);
    await instance.start(conversation, start, limits.hookMs);
    return instance;
  }

  async #clone(services: LentServices): Promise<ContextEngine> {
    const { registered, builtIn, onCloneFailed, settings, limits } = this.parts;
    const { options, threshold, protectFirstN, protectLastN } = settings;
    const context: EngineContext = {
      options,
      compression: { threshold, protectFirstN, protectLastN },
      services,
    };
    try {
      return await withinTime(limits.hookMs, () => cloneEngine(registered, context));
    } catch (error) {
      onCloneFailed(error);
      return await standIn(builtIn, context);
    }
  }
}

/** Its block was not read at the start: where it is refused, the defaults serve. */
async function standIn({ create, options }: BuiltInEngine, context: EngineContext): Promise<ContextEngine> {
  try {
    return await create({ ...context, options });
  } catch {
    return await create({ ...context, options: undefined });
  }
}
