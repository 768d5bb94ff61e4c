import type { AnswerPiece, CallPiece } from './answer.js';
import { callItem, messageItem } from './response-shape.js';
import type { VllmVersion } from './version.js';

/** An event of a Responses stream; its type is its name too. */
export interface ResponseEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

type Kind = 'message' | 'reasoning' | 'function_call';

/** Makes the events of an answer of its pieces: one item after the other. */
export class ResponseEvents {
  /** What was finished. */
  readonly items: object[] = [];
  private open: Kind | null = null;
  private id = '';
  private text = '';
  private call = { index: -1, id: '', name: '' };
  private outputIndex = 0;
  private contentIndex = 0;
  private sequence = 0;

  constructor(
    private readonly vllm: VllmVersion,
    private readonly nextId: () => string,
  ) {}

  /** An event of the answer as a whole. */
  around(type: string, response: object): ResponseEvent {
    return { response, ...this.numbered(type) };
  }

  /** 0.16 streams no calls. */
  *of(piece: AnswerPiece): Generator<ResponseEvent> {
    if (piece.call !== undefined) {
      if (this.vllm === '0.32') yield* this.ofCall(piece.call);
    } else if (piece.reasoning !== undefined) {
      if (this.open !== 'reasoning') yield* this.begin('reasoning', 'rs_');
      yield this.delta('response.reasoning_text.delta', piece.reasoning, {});
    } else if ((piece.text ?? '') !== '') {
      if (this.open !== 'message') yield* this.begin('message', 'msg_');
      yield this.delta('response.output_text.delta', piece.text ?? '', { logprobs: [] });
    }
  }

  /** Finishes the item that is open. */
  *close(): Generator<ResponseEvent> {
    if (this.open === null) return;
    if (this.open === 'function_call') yield* this.closeCall();
    else yield* this.closePart(this.open);
    this.open = null;
    this.outputIndex += 1;
  }

  private *ofCall(piece: CallPiece): Generator<ResponseEvent> {
    if (piece.id !== undefined) {
      yield* this.close();
      this.call = { index: piece.index, id: piece.id, name: piece.name ?? '' };
      this.start('function_call', 'fc_');
      yield this.added(callItem(this.id, { ...this.call, arguments: '' }, 'in_progress'));
    }
    if (piece.arguments === '') return;
    this.text += piece.arguments;
    yield {
      delta: piece.arguments,
      item_id: this.id,
      output_index: this.outputIndex,
      ...this.numbered('response.function_call_arguments.delta'),
    };
  }

  private *begin(kind: 'message' | 'reasoning', prefix: string): Generator<ResponseEvent> {
    yield* this.close();
    this.start(kind, prefix);
    this.contentIndex = 0;
    const said = { content: [], role: 'assistant', status: 'in_progress', type: 'message', phase: null };
    const thought = {
      summary: [],
      type: 'reasoning',
      content: null,
      encrypted_content: null,
      status: 'in_progress',
    };
    yield this.added({ id: this.id, ...(kind === 'message' ? said : thought) });
    yield this.inPart('response.content_part.added', { part: this.part(kind, [], true) });
  }

  private *closePart(kind: 'message' | 'reasoning'): Generator<ResponseEvent> {
    const { text } = this;
    const isMessage = kind === 'message';
    const done = isMessage ? 'response.output_text.done' : 'response.reasoning_text.done';
    yield this.inPart(done, isMessage ? { logprobs: [] } : {}, { text });
    yield this.inPart('response.content_part.done', { part: this.part(kind, null, false) });
    yield this.done(isMessage ? messageItem(this.id, text) : this.thoughtItem());
  }

  private *closeCall(): Generator<ResponseEvent> {
    yield {
      arguments: this.text,
      item_id: this.id,
      output_index: this.outputIndex,
      ...this.numbered('response.function_call_arguments.done'),
      name: this.call.name,
    };
    yield this.done(callItem(this.id, { ...this.call, arguments: this.text }, 'completed'));
  }

  private start(kind: Kind, prefix: string): void {
    this.open = kind;
    this.id = `${prefix}${this.nextId()}`;
    this.text = '';
  }

  private delta(type: string, text: string, more: object): ResponseEvent {
    this.text += text;
    return this.inPart(type, { ...more }, {}, text);
  }

  /** 0.16 counts the events of a part where the number of the part should be. */
  private inPart(type: string, before: object, after: object = {}, delta?: string): ResponseEvent {
    const content_index = this.contentIndex;
    if (this.vllm === '0.16') this.contentIndex += 1;
    const { logprobs, ...rest } = before as { logprobs?: unknown };
    return {
      content_index,
      ...(delta === undefined ? {} : { delta }),
      item_id: this.id,
      ...(logprobs === undefined ? {} : { logprobs }),
      output_index: this.outputIndex,
      ...rest,
      ...this.numbered(type, after),
    };
  }

  private part(kind: 'message' | 'reasoning', logprobs: unknown, empty: boolean): object {
    const text = empty ? '' : this.text;
    if (kind === 'reasoning') return { text, type: 'reasoning_text' };
    return { annotations: [], text, type: 'output_text', logprobs };
  }

  private thoughtItem(): object {
    const content = [{ text: this.text, type: 'reasoning_text' }];
    return {
      id: this.id,
      summary: [],
      type: 'reasoning',
      content,
      encrypted_content: null,
      status: 'completed',
    };
  }

  private added(item: object): ResponseEvent {
    return { item, output_index: this.outputIndex, ...this.numbered('response.output_item.added') };
  }

  private done(item: object): ResponseEvent {
    this.items.push(item);
    const shown = this.vllm === '0.16' ? { ...item, summary: [] } : item;
    return { item: shown, output_index: this.outputIndex, ...this.numbered('response.output_item.done') };
  }

  private numbered(type: string, before: object = {}): ResponseEvent {
    const sequence_number = this.sequence;
    this.sequence += 1;
    return { sequence_number, ...before, type };
  }
}
