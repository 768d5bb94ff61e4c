import { randomUUID } from 'node:crypto';
import type { Chain, ChainReader } from '../../conversation/chain.js';
import type { Message } from '../../conversation/message.js';
import { type Recognition, recognise, runCandidate } from '../../conversation/recognise.js';
import type {
  Checkpoint,
  ConversationRecord,
  ConversationStore,
  StoredPath,
  StoredRun,
} from '../../store/conversation-store.js';
import type { ExchangeLink } from './exchange-link.js';
import type { HostObserver } from './host-observer.js';
import { LiveConversation } from './live-conversation.js';
import type { LiveConversations } from './live-conversations.js';
import { Visit } from './visit.js';

export interface RecogniserParts {
  readonly engine: string;
  readonly store: ConversationStore;
  readonly chains: ChainReader;
  readonly live: LiveConversations;
  readonly observer: HostObserver;
  /** True where every conversation matters to the engine, from its first request on. */
  readonly isEager: boolean;
}

const NOTHING_STORED: StoredPath = { nodes: [], checkpoint: undefined, conversation: undefined, others: [] };

/** Finds the conversation of a request, and what stands upstream in place of its first messages. */
export class Recogniser {
  /** Tenants with a checkpoint, as far as this process knows. */
  readonly #compressed = new Map<string, boolean>();
  readonly #ordered = new Map<string, string | undefined>();

  constructor(private readonly parts: RecogniserParts) {}

  /**
   * @param isNeeded false: only where something of the conversation is known already, so that one-shot traffic costs
   * nothing.
   */
  async find(link: ExchangeLink, model: string, isNeeded: boolean): Promise<Visit | undefined> {
    const { isEager, chains, live } = this.parts;
    if (!isNeeded && !isEager && !(await this.#mayKnow(link.tenant))) return undefined;
    const chain = chains.read(link.tenant, link.request);
    if (chain.messages.length === 0) return undefined;
    const grown = live.grownFrom(chain.messages);
    const isSame = grown !== undefined && grown.checkpointModel === model && !this.#isOther(link, grown);
    return isSame
      ? this.#visit(grown, link, chain, grown.checkpoint)
      : await this.#fromStore(link, chain, model, isNeeded || isEager);
  }

  /** For the next request of a conversation that is not live. */
  order(id: string, focus: string | undefined): void {
    this.#ordered.set(id, focus);
  }

  /** A checkpoint was made for a tenant. */
  noteCheckpoint(tenant: string): void {
    this.#compressed.set(tenant, true);
  }

  /** True where a conversation was given another id by its client. */
  #isOther({ explicitId }: ExchangeLink, { record }: LiveConversation): boolean {
    return explicitId !== undefined && explicitId !== record.explicitId;
  }

  async #mayKnow(tenant: string): Promise<boolean> {
    const known = this.#compressed.get(tenant);
    if (known !== undefined) return known;
    const found = await this.#asked((store) => store.hasCheckpoints(tenant), false);
    if (this.#compressed.size > 100_000) this.#compressed.clear();
    this.#compressed.set(tenant, found);
    return found;
  }

  async #fromStore(
    link: ExchangeLink,
    chain: Chain,
    model: string,
    isWanted: boolean,
  ): Promise<Visit | undefined> {
    const { tenant, explicitId } = link;
    const hashes = chain.messages.map(({ hash }) => hash);
    const query = { tenant, hashes, model, engine: this.parts.engine, explicitId };
    const stored = await this.#asked((store) => store.loadPath(query), NOTHING_STORED);
    if (stored.nodes.length === 0 && !isWanted) return undefined;
    const contents = stored.nodes.length === 0 ? runCandidate(chain) : [];
    const run =
      contents.length < 2
        ? undefined
        : await this.#asked((store) => store.findRun(tenant, contents), undefined);
    // An equal request may have come while this one waited for the store.
    const grown = this.parts.live.grownFrom(chain.messages);
    if (grown !== undefined && grown.path.length > stored.nodes.length && grown.checkpointModel === model) {
      return this.#visit(grown, link, chain, grown.checkpoint);
    }
    return this.#visitOf(link, chain, stored, run, model);
  }

  #visitOf(
    link: ExchangeLink,
    chain: Chain,
    stored: StoredPath,
    run: StoredRun | undefined,
    model: string,
  ): Visit {
    const now = Date.now();
    const found = recognise({
      chain,
      messages: messagesOf(link, chain),
      stored,
      run,
      explicitId: link.explicitId,
      mintUid,
    });
    const conversation = this.#conversation(found, link, [run?.conversation, stored.conversation], now);
    conversation.checkpointModel = model;
    conversation.checkpoint = stored.checkpoint;
    this.#follow(conversation, found.path, found.fresh);
    return new Visit(conversation, link, chain, found.path, stored.checkpoint);
  }

  #conversation(
    { conversationId, kind }: Recognition,
    link: ExchangeLink,
    records: readonly (ConversationRecord | undefined)[],
    now: number,
  ): LiveConversation {
    const { live } = this.parts;
    const known = live.get(conversationId);
    if (known !== undefined) return known;
    const record = records.find((one) => one?.id === conversationId);
    const reason = record === undefined ? 'new' : kind === 'continued' ? 'continued' : 'restored';
    const conversation = new LiveConversation(record ?? newRecord(conversationId, link, now), reason);
    live.add(conversation);
    if (this.#ordered.has(conversationId)) {
      conversation.ordered = { focus: this.#ordered.get(conversationId) };
      this.#ordered.delete(conversationId);
    }
    return conversation;
  }

  /** A request that goes on where the conversation's last one ended. */
  #visit(
    conversation: LiveConversation,
    link: ExchangeLink,
    chain: Chain,
    checkpoint: Checkpoint | undefined,
  ): Visit {
    if (conversation.path.length === chain.messages.length) {
      return new Visit(conversation, link, chain, conversation.path, checkpoint);
    }
    const { path, record } = conversation;
    const messages = messagesOf(link, chain, path.length);
    const stored = { ...NOTHING_STORED, nodes: path, conversation: record };
    const found = recognise({ chain, messages, stored, explicitId: link.explicitId, mintUid });
    this.#follow(conversation, found.path, found.fresh);
    return new Visit(conversation, link, chain, found.path, checkpoint);
  }

  #follow(
    conversation: LiveConversation,
    path: LiveConversation['path'],
    fresh: LiveConversation['path'],
  ): void {
    this.parts.live.follow(conversation, path);
    conversation.unsaved = [...conversation.unsaved, ...fresh];
  }

  async #asked<T>(question: (store: ConversationStore) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await question(this.parts.store);
    } catch (error) {
      this.parts.observer.storeFailed(error);
      return otherwise;
    }
  }
}

/** The request's messages from the chain's `from`-th on, parsed; earlier ones are holes that nobody reads. */
function messagesOf(link: ExchangeLink, chain: Chain, from = 0): Message[] {
  const { bytes } = link.request;
  const messages: Message[] = new Array(chain.messages.length);
  for (let i = from; i < chain.messages.length; i += 1) {
    const { start, end } = (chain.messages[i] as Chain['messages'][number]).span;
    messages[i] = JSON.parse(bytes.toString('utf8', start, end));
  }
  return messages;
}

export function mintUid(): string {
  return randomUUID().replaceAll('-', '');
}

function newRecord(
  id: string,
  { tenant, explicitId }: ExchangeLink,
  now: number,
): LiveConversation['record'] {
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
