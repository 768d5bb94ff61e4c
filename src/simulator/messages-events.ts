import type { AnswerPiece, CallPiece } from './answer.js';
import type { AnswerHead } from './chat-shape.js';
import { messageUsage, stopReason } from './messages-shape.js';
import type { Streamed } from './single-choice.js';
import type { TokenCounts } from './usage.js';

/** An event of a stream in the form of Anthropic; its type is its name too. */
export interface MessageEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Makes the events of an answer of its pieces: one block after the other. */
export class MessageEvents {
  private open: string | null = null;
  private index = 0;
  private signature = '';
  private called = false;

  constructor(
    private readonly head: AnswerHead,
    private readonly nextId: () => string,
  ) {}

  start(promptTokens: number): MessageEvent {
    const { id, model, vllm } = this.head;
    const usage = { input_tokens: promptTokens, output_tokens: 0 };
    if (vllm === '0.16') return { type: 'message_start', message: { id, content: [], model, usage } };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      content: [],
      model,
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    return { type: 'message_start', message };
  }

  /** 0.16 shows no thought, and nothing of the piece that an answer finishes with. */
  *of(piece: AnswerPiece): Generator<MessageEvent> {
    const isOld = this.head.vllm === '0.16';
    if (isOld && (piece.finish !== undefined || piece.reasoning !== undefined)) return;
    if (piece.call !== undefined) yield* this.call(piece.call);
    else if (piece.reasoning !== undefined) {
      if (piece.reasoning !== '') yield* this.thought(piece.reasoning);
    } else if ((piece.text ?? '') !== '' && this.open !== 'tool_use') yield* this.text(piece.text ?? '');
  }

  *end({ finish }: Streamed, counts: TokenCounts): Generator<MessageEvent> {
    yield* this.close();
    const { vllm } = this.head;
    const { stop_reason, stop_sequence } = stopReason(finish, this.called, vllm);
    const delta = vllm === '0.16' ? { stop_reason } : { stop_reason, stop_sequence };
    yield { type: 'message_delta', delta, usage: messageUsage(counts, vllm) };
    yield { type: 'message_stop' };
  }

  private *text(text: string): Generator<MessageEvent> {
    if (this.open !== 'text') yield* this.begin({ type: 'text', text: '' });
    yield this.delta({ type: 'text_delta', text });
  }

  private *thought(thinking: string): Generator<MessageEvent> {
    if (this.open !== 'thinking') yield* this.begin({ type: 'thinking', thinking: '' });
    yield this.delta({ type: 'thinking_delta', thinking });
  }

  private *call({ id, name, arguments: text }: CallPiece): Generator<MessageEvent> {
    if (id !== undefined) {
      this.called = true;
      yield* this.begin({ type: 'tool_use', id, name, input: {} });
    }
    if (text !== '') yield this.delta({ type: 'input_json_delta', partial_json: text });
  }

  private *begin(block: {
    readonly type: string;
    readonly [member: string]: unknown;
  }): Generator<MessageEvent> {
    yield* this.close();
    this.open = block.type;
    if (block.type === 'thinking') this.signature = this.nextId() + this.nextId();
    yield { type: 'content_block_start', content_block: block, index: this.index };
  }

  private *close(): Generator<MessageEvent> {
    if (this.open === null) return;
    if (this.open === 'thinking') yield this.delta({ type: 'signature_delta', signature: this.signature });
    yield { type: 'content_block_stop', index: this.index };
    this.open = null;
    this.index += 1;
  }

  private delta(delta: object): MessageEvent {
    return { type: 'content_block_delta', delta, index: this.index };
  }
}
