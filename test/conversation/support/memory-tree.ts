import { RawObject } from '../../../src/body/raw-object.js';
import { type Chain, ChainReader } from '../../../src/conversation/chain.js';
import { type Recognition, recognise, runCandidate } from '../../../src/conversation/recognise.js';
import type {
  ConversationRecord,
  NodeRecord,
  StoredPath,
  StoredRun,
} from '../../../src/store/conversation-store.js';

export type Sent = Readonly<Record<string, unknown>>;

export function chainOf(messages: readonly Sent[], tenant = 't'): Chain {
  const request = RawObject.parse(Buffer.from(JSON.stringify({ messages }))) as RawObject;
  return new ChainReader().read(tenant, request);
}

/** Answers as a store does, and remembers what was recognised. Ids count up. */
export class MemoryTree {
  /** The newest one last. */
  readonly nodes: NodeRecord[] = [];
  readonly #conversations = new Map<string, ConversationRecord>();
  #minted = 0;

  readonly mintUid = (): string => {
    this.#minted += 1;
    return this.#minted.toString(16).padStart(32, '0');
  };

  send(messages: readonly Sent[], explicitId?: string): Recognition {
    const chain = chainOf(messages);
    const stored = this.#load(chain, explicitId);
    const run = stored.nodes.length > 0 ? undefined : this.#findRun(chain);
    const last = run?.nodes.at(-1);
    const found = recognise({
      chain,
      messages: messages.slice(chain.headRows.length),
      stored,
      run,
      afterRun: last && this.#below(last.hash),
      explicitId,
      mintUid: this.mintUid,
    });
    this.nodes.push(...found.fresh);
    const id = found.conversationId;
    if (!this.#conversations.has(id)) this.#conversations.set(id, record(id, explicitId));
    return found;
  }

  #load({ messages }: Chain, explicitId: string | undefined): StoredPath {
    const nodes: NodeRecord[] = [];
    for (const { hash } of messages) {
      const node = this.nodes.find((one) => one.hash === hash);
      if (node === undefined) break;
      nodes.push(node);
    }
    const deepest = nodes.at(-1);
    const named = [...this.#conversations.values()].find((one) => one.explicitId === explicitId);
    return {
      nodes,
      checkpoint: undefined,
      conversation:
        (explicitId === undefined ? undefined : named) ??
        this.#conversations.get(deepest?.conversation ?? ''),
      others: deepest ? this.#below(deepest.hash) : [],
    };
  }

  #below(hash: string): NodeRecord[] {
    const children = this.nodes.filter(({ parent }) => parent === hash).reverse();
    return children.flatMap((child) => [child, ...this.#below(child.hash)]).slice(0, 64);
  }

  #findRun(chain: Chain): StoredRun | undefined {
    for (const skip of [0, 1, 2]) {
      const contents = runCandidate(chain, skip);
      const ways = contents.length === 0 ? [] : this.nodes.map((node) => this.#way(node, contents));
      const [nodes, another] = ways.filter((way) => way !== undefined);
      const conversation = this.#conversations.get(nodes?.at(-1)?.conversation ?? '');
      if (nodes && conversation && !another) return { nodes, conversation };
    }
    return undefined;
  }

  #way(end: NodeRecord, contents: readonly string[]): NodeRecord[] | undefined {
    const way: NodeRecord[] = [];
    let node: NodeRecord | undefined = end;
    for (const content of contents.toReversed()) {
      if (node?.content !== content) return undefined;
      way.unshift(node);
      const { parent }: NodeRecord = node;
      node = this.nodes.find(({ hash }) => hash === parent);
    }
    return way;
  }
}

function record(id: string, explicitId: string | undefined): ConversationRecord {
  const numbers = { created: 0, lastSeen: 0, messages: 0, promptTokens: 0, window: 0, compressions: 0 };
  return { id, tenant: 't', explicitId, ...numbers };
}
