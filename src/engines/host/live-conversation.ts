import type { ViewRow } from '../../conversation/view.js';
import type { Checkpoint, ConversationRecord, NodeRecord } from '../../store/conversation-store.js';
import type { SessionStart } from '../contract.js';
import type { CompressionResult } from './conversation-passes.js';
import type { EngineInstance } from './engine-instance.js';
import { SharedPasses } from './shared-pass.js';
import type { StuckView } from './stuck-view.js';
import type { NewestAsked } from './taken-note.js';

/** What a pass leaves behind. */
export interface MadePass {
  readonly checkpoint: Checkpoint;
  /** What the engine wrote: JSON text by key. */
  readonly writes: ReadonlyMap<string, string>;
}

/** A pass in the background, while it waits or runs. */
export interface EarlyPass {
  /** The chain hash at the end of its view. */
  readonly end: string;
  readonly model: string;
  stop(): void;
}

/** A conversation that this process serves. What it holds of a path belongs to the last request seen of it. */
export class LiveConversation {
  /** The nodes of the last request, one a message, the head not counted. */
  path: readonly NodeRecord[] = [];
  newest: NewestAsked | undefined;
  /** Nodes that are not in the store yet. */
  unsaved: readonly NodeRecord[] = [];
  /** A pass that the store did not take. */
  unsavedPass: MadePass | undefined;
  /** For `checkpointModel`, on the path. */
  checkpoint: Checkpoint | undefined;
  checkpointModel: string | undefined;
  /** The last one that was made, on whatever path. */
  lastMade: Checkpoint | undefined;
  readonly passes = new SharedPasses<CompressionResult>();
  early: EarlyPass | undefined;
  /** Made early, and not due yet. */
  prepared: MadePass | undefined;
  stuck: StuckView | undefined;
  /** The next request is compressed, whether due or not; with that focus. */
  ordered: { readonly focus: string | undefined } | undefined;
  instance: Promise<EngineInstance> | undefined;
  /** For `onSessionEnd`, where the engine has one. */
  lastRows: readonly ViewRow[] = [];
  /** By an administrator: nothing of it is written any more. */
  isDeleted = false;

  constructor(
    public record: ConversationRecord,
    /** Why its next instance is made. */
    public reason: SessionStart['reason'],
  ) {}

  get id(): string {
    return this.record.id;
  }

  get leaf(): string | undefined {
    return this.path.at(-1)?.hash;
  }
}

/** True where a checkpoint may stand for the beginning of that path. */
export function fits(checkpoint: Checkpoint, path: readonly NodeRecord[], model: string): boolean {
  const { end, messages } = checkpoint;
  return checkpoint.model === model && messages > 0 && path[messages - 1]?.hash === end;
}

/** Of a conversation that begins. */
export function newRecord(
  id: string,
  { tenant, explicitId }: Pick<ConversationRecord, 'tenant' | 'explicitId'>,
  now: number,
): ConversationRecord {
  return {
    id,
    tenant,
    explicitId,
    created: now,
    lastSeen: now,
    messages: 0,
    promptTokens: 0,
    window: 0,
    compressions: 0,
  };
}
