import type { ViewRow } from '../../conversation/view.js';
import type { Checkpoint, ConversationRecord, NodeRecord } from '../../store/conversation-store.js';
import type { SessionStart } from '../contract.js';
import type { PassFailure } from './compress-view.js';
import type { CompressionResult } from './conversation-passes.js';
import type { EngineInstance } from './engine-instance.js';
import { SharedPasses } from './shared-pass.js';

/** A pass that was made early and waits until it is due. */
export interface PreparedPass {
  readonly checkpoint: Checkpoint;
  /** What the engine wrote: JSON text by key. */
  readonly writes: ReadonlyMap<string, string>;
}

/** A view that a pass could not help. */
export interface StuckView {
  /** The chain hash at its end. */
  readonly end: string;
  readonly promptTokens: number;
  readonly reason: PassFailure;
  /** In the time of `performance.now()`. */
  readonly at: number;
}

/** A conversation that this process serves. What it holds of a path belongs to the last request seen of it. */
export class LiveConversation {
  /** The nodes of the last request, one a message, the head not counted. */
  path: readonly NodeRecord[] = [];
  /** Those of them that are not in the store yet. */
  unsaved: readonly NodeRecord[] = [];
  /** For `checkpointModel`, on the path. */
  checkpoint: Checkpoint | undefined;
  checkpointModel: string | undefined;
  readonly passes = new SharedPasses<CompressionResult>();
  prepared: PreparedPass | undefined;
  stuck: StuckView | undefined;
  /** The next request is compressed, whether due or not; with that focus. */
  ordered: { readonly focus: string | undefined } | undefined;
  instance: Promise<EngineInstance> | undefined;
  /** For `onSessionEnd`, where the engine has one. */
  lastRows: readonly ViewRow[] = [];
  record: ConversationRecord;

  constructor(
    record: ConversationRecord,
    readonly reason: SessionStart['reason'],
  ) {
    this.record = record;
  }

  get id(): string {
    return this.record.id;
  }

  get leaf(): string | undefined {
    return this.path.at(-1)?.hash;
  }
}
