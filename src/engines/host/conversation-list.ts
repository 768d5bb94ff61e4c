import type { ConversationRecord, ConversationStore } from '../../store/conversation-store.js';
import type { EngineStatus } from '../contract.js';
import type { ConversationWriter } from './conversation-writer.js';
import type { EngineInstance } from './engine-instance.js';
import type { LiveConversations } from './live-conversations.js';

/** A conversation as `GET /incontext/conversations` shows it: counts, never content. */
export interface ConversationSummary {
  readonly id: string;
  readonly messages: number;
  readonly prompt_tokens: number;
  readonly window: number;
  readonly compressions: number;
  /** ISO 8601. */
  readonly last_seen: string;
}

export interface ConversationView extends ConversationSummary {
  /** `getStatus()`; `null` where no engine of this process serves the conversation, or it fails. */
  readonly engine_status: EngineStatus | null;
  readonly checkpoints: readonly {
    readonly messages: number;
    readonly tokens_before: number;
    readonly tokens_after: number;
    /** ISO 8601. */
    readonly created: string;
  }[];
}

/** What administrators see and do. */
export class ConversationList {
  constructor(
    private readonly store: ConversationStore,
    private readonly live: LiveConversations,
    private readonly writer: Pick<ConversationWriter, 'flush'>,
  ) {}

  /** The most recently seen first. */
  async all(): Promise<ConversationSummary[]> {
    void this.writer.flush();
    const stored = await this.store.listConversations();
    return stored.map((record) => summary(this.live.peek(record.id)?.record ?? record));
  }

  async one(id: string): Promise<ConversationView | undefined> {
    void this.writer.flush();
    const details = await this.store.conversation(id);
    if (details === undefined) return undefined;
    const live = this.live.peek(id);
    const instance = await live?.instance?.catch(() => undefined);
    return {
      ...summary(live?.record ?? details.conversation),
      engine_status: instance === undefined ? null : statusOf(instance),
      checkpoints: details.checkpoints.map((checkpoint) => ({
        messages: checkpoint.messages,
        tokens_before: checkpoint.tokensBefore,
        tokens_after: checkpoint.tokensAfter,
        created: new Date(checkpoint.created).toISOString(),
      })),
    };
  }

  /** False where there is none of that id. */
  async remove(id: string): Promise<boolean> {
    const wasLive = this.live.remove(id);
    return (await this.store.deleteConversation(id)) || wasLive;
  }
}

function statusOf({ engine }: EngineInstance): EngineStatus | null {
  try {
    return engine.getStatus();
  } catch {
    return null;
  }
}

function summary(record: ConversationRecord): ConversationSummary {
  const { id, messages, promptTokens, window, compressions, lastSeen } = record;
  return {
    id,
    messages,
    prompt_tokens: promptTokens,
    window,
    compressions,
    last_seen: new Date(lastSeen).toISOString(),
  };
}
