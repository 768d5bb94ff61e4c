import { createParser } from 'eventsource-parser';

interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
}

/**
 * The assistant's message of an answer, JSON or event stream, in the form of any endpoint, where it ends a turn: no tool
 * is called. Only the first choice of a chat is looked at.
 */
export function finalMessage(text: string): AssistantMessage | undefined {
  const turn = new Turn();
  try {
    if (text.trimStart().startsWith('{')) turn.addWhole(JSON.parse(text));
    else streamed(text, turn);
  } catch {
    return undefined;
  }
  return turn.message;
}

function streamed(text: string, turn: Turn): void {
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') turn.addEvent(JSON.parse(data));
    },
  });
  parser.feed(text);
}

/** Why an answer ends that ends a turn: OpenAI's reasons, Anthropic's, and the states of a response. */
const LAST = new Set<unknown>([
  ...['stop', 'length', 'content_filter'],
  ...['end_turn', 'max_tokens', 'stop_sequence', 'refusal'],
  ...['completed', 'incomplete'],
]);
const CALLS = new Set<unknown>(['tool_use', 'function_call']);

class Turn {
  #content = '';
  #calls = false;
  #finish: unknown;

  addWhole(answer: unknown): void {
    if (field(answer, 'object') === 'response') this.#addResponse(answer);
    else if (field(answer, 'type') === 'message') this.#addMessage(answer);
    else this.#addChoice(answer, 'message');
  }

  addEvent(event: unknown): void {
    const type = field(event, 'type');
    if (type === undefined) this.#addChoice(event, 'delta');
    else if (type === 'content_block_start') this.#addBlocks([field(event, 'content_block')]);
    else if (type === 'content_block_delta') this.#add(field(field(event, 'delta'), 'text'));
    else if (type === 'message_delta') this.#end(field(field(event, 'delta'), 'stop_reason'));
    else if (type === 'response.completed' || type === 'response.incomplete')
      this.#addResponse(field(event, 'response'));
  }

  get message(): AssistantMessage | undefined {
    return this.#calls || !LAST.has(this.#finish) ? undefined : { role: 'assistant', content: this.#content };
  }

  #addChoice(answer: unknown, part: 'message' | 'delta'): void {
    const choice = listIn(answer, 'choices').find(isFirst);
    const piece = field(choice, part);
    this.#add(field(piece, 'content'));
    if (listIn(piece, 'tool_calls').length > 0) this.#calls = true;
    this.#end(field(choice, 'finish_reason'));
  }

  #addMessage(message: unknown): void {
    this.#addBlocks(listIn(message, 'content'));
    this.#end(field(message, 'stop_reason'));
  }

  #addResponse(response: unknown): void {
    for (const item of listIn(response, 'output')) {
      if (field(item, 'type') === 'message') this.#addBlocks(listIn(item, 'content'));
      else this.#addBlocks([item]);
    }
    this.#end(field(response, 'status'));
  }

  /** Texts and calls; a thought's text has a name of its own. */
  #addBlocks(blocks: readonly unknown[]): void {
    for (const block of blocks) {
      if (CALLS.has(field(block, 'type'))) this.#calls = true;
      else this.#add(field(block, 'text'));
    }
  }

  #add(text: unknown): void {
    if (typeof text === 'string') this.#content += text;
  }

  #end(reason: unknown): void {
    this.#finish = reason ?? this.#finish;
  }
}

/** Of several choices each has events of its own. */
function isFirst(choice: unknown): boolean {
  return (field(choice, 'index') ?? 0) === 0;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? list : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
