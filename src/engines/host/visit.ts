import type { RawObject } from '../../body/raw-object.js';
import type { Chain } from '../../conversation/chain.js';
import type { Message } from '../../conversation/message.js';
import { buildView, renderRequest, type ViewRow, viewMessages } from '../../conversation/view.js';
import type { Checkpoint, NodeRecord } from '../../store/conversation-store.js';
import type { ExchangeLink } from './exchange-link.js';
import { fits, type LiveConversation } from './live-conversation.js';
import { stands } from './standing.js';

/** One exchange of a conversation: the request as the client sent it, and the view that goes upstream in its place. */
export class Visit {
  #rows: readonly ViewRow[] | undefined;
  #request: RawObject | undefined;
  /** What stands for the first messages of this request. */
  #checkpoint: Checkpoint | undefined;

  constructor(
    readonly conversation: LiveConversation,
    readonly link: ExchangeLink,
    readonly chain: Chain,
    /** The nodes of the request's messages, one each. */
    readonly path: readonly NodeRecord[],
    checkpoint: Checkpoint | undefined,
  ) {
    this.#checkpoint = checkpoint;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  /** How many tokens the client's request has more than the view. */
  get savedTokens(): number {
    const { tokensBefore = 0, tokensAfter = 0 } = this.#checkpoint ?? {};
    return tokensBefore - tokensAfter;
  }

  /** The view's messages as they are sent, with what belongs to them. */
  get rows(): readonly ViewRow[] {
    this.#rows ??= buildView({
      request: this.link.request,
      chain: this.chain,
      nodes: this.path,
      checkpoint: this.#checkpoint,
    });
    return this.#rows;
  }

  /** Fresh copies, stamped with their uids. */
  messages(): Message[] {
    return viewMessages(this.rows);
  }

  /** The request with the view in place of its messages; the client's own where nothing stands in its place. */
  get request(): RawObject {
    if (this.#checkpoint === undefined) return this.link.request;
    this.#request ??= this.link.read(renderRequest(this.link.request, this.rows));
    return this.#request;
  }

  /** True where a pass is due and that checkpoint, of another exchange, may take its place. */
  mayAdopt(checkpoint: Checkpoint, model: string): boolean {
    if (!fits(checkpoint, this.path, model)) return false;
    const sent: unknown = this.link.request.value('messages');
    const messages = Array.isArray(sent) ? sent.slice(this.chain.headRows.length) : [];
    return stands(checkpoint, messages, { turnMayShrink: true });
  }

  adopt(checkpoint: Checkpoint | undefined): void {
    this.#checkpoint = checkpoint;
    this.#rows = undefined;
    this.#request = undefined;
  }
}
