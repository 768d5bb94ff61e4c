import { randomUUID } from 'node:crypto';
import type { Chain, ChainReader } from '../../conversation/chain.js';
import type { Message } from '../../conversation/message.js';
import { type Recognition, recognise, runCandidate } from '../../conversation/recognise.js';
import { isUid } from '../../conversation/uid.js';
import type {
  ConversationRecord,
  ConversationStore,
  PathQuery,
  StoredPath,
  StoredRun,
} from '../../store/conversation-store.js';
import { CompressedTenants } from './compressed-tenants.js';
import type { ConversationWriter } from './conversation-writer.js';
import type { ExchangeLink } from './exchange-link.js';
import type { HostObserver } from './host-observer.js';
import { deepest, isCurrent, withPath } from './known-path.js';
import { LiveConversation, newRecord } from './live-conversation.js';
import type { LiveConversations } from './live-conversations.js';
import { keptFrom, stands } from './standing.js';
import { newestAsked, withoutNote } from './taken-note.js';
import { Visit } from './visit.js';

export interface RecogniserParts {
  readonly engine: string;
  readonly store: ConversationStore;
  readonly chains: ChainReader;
  readonly live: LiveConversations;
  readonly writer: Pick<ConversationWriter, 'flush'>;
  readonly observer: HostObserver;
  /** True where every conversation matters to the engine, from its first request on. */
  readonly isEager: boolean;
}

/** Messages that a client puts in the place of a head that it dropped: a summary, and an answer to it. */
const MOST_IN_PLACE = 2;
const NOTHING_STORED: StoredPath = { nodes: [], checkpoint: undefined, conversation: undefined, others: [] };

/** Finds the conversation of a request, and what stands upstream in place of its first messages. */
export class Recogniser {
  readonly #tenants: CompressedTenants;
  readonly #ordered = new Map<string, string | undefined>();

  constructor(private readonly parts: RecogniserParts) {
    this.#tenants = new CompressedTenants((tenant) =>
      this.#asked((store) => store.hasCheckpoints(tenant), undefined),
    );
  }

  /**
   * @param isNeeded false: only where something of the conversation is known already, so that one-shot traffic costs
   * nothing.
   */
  async find(link: ExchangeLink, model: string, isNeeded: boolean): Promise<Visit | undefined> {
    const { isEager, chains } = this.parts;
    if (!isNeeded && !isEager && !(await this.#tenants.has(link.tenant))) return undefined;
    const chain = chains.read(link.tenant, link.request);
    if (chain.messages.length === 0) return undefined;
    const grown = this.#grown(link, chain);
    return grown !== undefined && isCurrent(grown, model)
      ? this.#visit(grown, link, chain)
      : await this.#fromStore(link, chain, model, isNeeded || isEager);
  }

  /** For the next request of a conversation that is not live. */
  order(id: string, focus: string | undefined): void {
    this.#ordered.set(id, focus);
  }

  /** A checkpoint was made for a tenant. */
  noteCheckpoint(tenant: string): void {
    this.#tenants.add(tenant);
  }

  /** The live conversation that a request goes on with. */
  #grown({ explicitId }: ExchangeLink, chain: Chain): LiveConversation | undefined {
    const grown = this.parts.live.grownFrom(chain.messages);
    if (grown === undefined || explicitId === undefined) return grown;
    const { record } = grown;
    return explicitId === record.explicitId || explicitId === record.id ? grown : undefined;
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
    void this.parts.writer.flush();
    const messages = messagesOf(link, chain);
    const stored = await this.#load(query, messages);
    const run = stored.nodes.length === 0 && isWanted ? await this.#run(tenant, chain) : undefined;
    const named = await this.#named(link, stored);
    // Other requests of the conversation may have come while this one waited for the store.
    const grown = this.#grown(link, chain);
    const known = grown === undefined ? stored : withPath(stored, grown);
    if (known.nodes.length === 0 && !isWanted) return undefined;
    return this.#visitOf(
      link,
      chain,
      messages,
      named === undefined ? known : { ...known, conversation: named },
      run,
      model,
    );
  }

  /** What is stored of a path, with the deepest checkpoint that leaves the request what it asks. */
  async #load(query: PathQuery, messages: readonly Message[]): Promise<StoredPath> {
    const stored = await this.#asked((store) => store.loadPath(query), NOTHING_STORED);
    const { checkpoint } = stored;
    if (checkpoint === undefined || stands(checkpoint, messages, { turnMayShrink: false })) return stored;
    const before = { ...query, hashes: query.hashes.slice(0, keptFrom(messages)) };
    const older = await this.#asked((store) => store.loadPath(before), NOTHING_STORED);
    return { ...stored, checkpoint: older.checkpoint };
  }

  /** Where a client went on without the head of its history, or with something in its place. */
  async #run(tenant: string, chain: Chain): Promise<StoredRun | undefined> {
    for (let skip = 0; skip <= MOST_IN_PLACE; skip += 1) {
      const contents = runCandidate(chain, skip);
      if (contents.length < 2) continue;
      const run = await this.#asked((store) => store.findRun(tenant, contents), undefined);
      if (run !== undefined) return run;
    }
    return undefined;
  }

  /** The conversation that a client calls by the id that we gave it. */
  async #named(
    { explicitId, tenant }: ExchangeLink,
    { conversation }: StoredPath,
  ): Promise<ConversationRecord | undefined> {
    if (!isUid(explicitId) || conversation?.explicitId === explicitId) return undefined;
    if (conversation?.id === explicitId) return conversation;
    const live = this.parts.live.get(explicitId)?.record;
    const record =
      live ?? (await this.#asked((store) => store.conversation(explicitId), undefined))?.conversation;
    return record?.tenant === tenant ? record : undefined;
  }

  #visitOf(
    link: ExchangeLink,
    chain: Chain,
    messages: Message[],
    stored: StoredPath,
    run: StoredRun | undefined,
    model: string,
  ): Visit {
    const { explicitId } = link;
    const record = stored.conversation;
    const named = record !== undefined && record.id === explicitId ? { ...record, explicitId } : record;
    const live = record === undefined ? undefined : this.parts.live.get(record.id);
    const found = recognise({
      chain,
      messages,
      stored: { ...stored, conversation: named },
      run,
      replaced: live && withoutNote(live, messages, stored.nodes),
      explicitId,
      mintUid,
    });
    const conversation = this.#conversation(found, link, [run?.conversation, record], Date.now());
    const { checkpoint, lastMade } = conversation;
    const standing = [checkpoint, lastMade, stored.checkpoint].filter(
      (one) => one !== undefined && stands(one, messages, { turnMayShrink: false }),
    );
    conversation.checkpoint = deepest(standing, found.path, model);
    conversation.checkpointModel = model;
    this.#follow(conversation, found, messages);
    return new Visit(conversation, link, chain, found.path, conversation.checkpoint);
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
  #visit(conversation: LiveConversation, link: ExchangeLink, chain: Chain): Visit {
    const { path, record, checkpoint } = conversation;
    if (path.length === chain.messages.length) return new Visit(conversation, link, chain, path, checkpoint);
    const messages = messagesOf(link, chain, path.length);
    const stored = withPath({ ...NOTHING_STORED, conversation: record }, conversation);
    const found = recognise({ chain, messages, stored, mintUid });
    this.#follow(conversation, found, messages);
    return new Visit(conversation, link, chain, found.path, checkpoint);
  }

  #follow(conversation: LiveConversation, { path, fresh }: Recognition, messages: readonly Message[]): void {
    this.parts.live.follow(conversation, path);
    conversation.newest = newestAsked(path, messages);
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
  const { request, sent } = link;
  if (sent !== request) {
    const all = sent.value('messages');
    if (Array.isArray(all)) return all.slice(chain.headRows.length);
  }
  const { bytes } = request;
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
