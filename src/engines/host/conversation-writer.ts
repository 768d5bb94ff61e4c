import type { ConversationStore, NodeRecord } from '../../store/conversation-store.js';
import type { HostObserver } from './host-observer.js';
import type { LiveConversation, MadePass } from './live-conversation.js';
import type { Visit } from './visit.js';

/** How long what nobody waits for may stay unwritten: a write for each request costs as much as all the rest. */
const LATER_MS = 250;

/** Writes conversations down. What the store did not take is written with the next exchange. */
export class ConversationWriter {
  readonly #waiting = new Map<LiveConversation, Visit>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: Pick<ConversationStore, 'commit'>,
    private readonly observer: Pick<HostObserver, 'storeFailed'>,
  ) {}

  /** Written soon, together with what the conversation adds until then. */
  later(visit: Visit): void {
    this.#waiting.set(visit.conversation, visit);
    this.#timer ??= setTimeout(() => void this.flush(), LATER_MS).unref();
  }

  /** Sends everything that waits to the store: what is asked of it from now on knows of it. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const visits = [...this.#waiting.values()];
    await Promise.all(visits.map((visit) => this.write(visit)));
  }

  /** What an exchange adds, all of it or nothing. Never rejects. */
  async write(visit: Visit, made?: MadePass): Promise<void> {
    const { conversation } = visit;
    this.#waiting.delete(conversation);
    if (conversation.isDeleted) return;
    const { unsaved, unsavedPass } = conversation;
    const pass = together(unsavedPass, made);
    conversation.unsaved = [];
    conversation.unsavedPass = undefined;
    try {
      await this.#commit(conversation, unsaved, pass);
    } catch (error) {
      keep(conversation, visit.path, unsaved);
      conversation.unsavedPass = together(pass, conversation.unsavedPass);
      // What it branches off may be deleted by now: the store takes it where it gets all of the path.
      if (conversation.unsaved.length > unsaved.length) await this.write(visit);
      else this.observer.storeFailed(error);
    }
  }

  #commit({ record }: LiveConversation, nodes: readonly NodeRecord[], pass: MadePass | undefined) {
    return this.store.commit({
      tenant: record.tenant,
      conversation: record,
      nodes,
      checkpoint: pass?.checkpoint,
      engineState: pass?.writes,
    });
  }
}

function together(earlier: MadePass | undefined, later: MadePass | undefined): MadePass | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  return { checkpoint: later.checkpoint, writes: new Map([...earlier.writes, ...later.writes]) };
}

/** The store may know less of the path than it seemed to: all of it is offered again, each node behind its parent. */
function keep(
  conversation: LiveConversation,
  path: readonly NodeRecord[],
  unsaved: readonly NodeRecord[],
): void {
  const nodes = new Map<string, NodeRecord>();
  for (const node of [...path, ...unsaved, ...conversation.unsaved]) {
    if (!nodes.has(node.hash)) nodes.set(node.hash, { ...node, conversation: conversation.id });
  }
  conversation.unsaved = [...nodes.values()].sort((a, b) => a.depth - b.depth);
}
