import { createParser } from 'eventsource-parser';

interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
}

/** Why an answer ends that ends a turn. */
const LAST = new Set<unknown>(['stop', 'length', 'content_filter']);

/**
 * The assistant's message of a chat answer, JSON or event stream, where it ends a turn: no tool is called. Only the
 * first choice is looked at.
 */
export function finalMessage(text: string): AssistantMessage | undefined {
  const answer = new Turn();
  try {
    if (text.trimStart().startsWith('{')) answer.add(JSON.parse(text), 'message');
    else streamed(text, answer);
  } catch {
    return undefined;
  }
  return answer.message;
}

function streamed(text: string, answer: Turn): void {
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') answer.add(JSON.parse(data), 'delta');
    },
  });
  parser.feed(text);
}

class Turn {
  #content = '';
  #calls = false;
  #finish: unknown;

  add(answer: unknown, part: 'message' | 'delta'): void {
    const choices = field(answer, 'choices');
    const choice: unknown = Array.isArray(choices) ? choices.find(isFirst) : undefined;
    const piece = field(choice, part);
    const content = field(piece, 'content');
    const calls = field(piece, 'tool_calls');
    if (typeof content === 'string') this.#content += content;
    if (Array.isArray(calls) && calls.length > 0) this.#calls = true;
    this.#finish = field(choice, 'finish_reason') ?? this.#finish;
  }

  get message(): AssistantMessage | undefined {
    return this.#calls || !LAST.has(this.#finish) ? undefined : { role: 'assistant', content: this.#content };
  }
}

/** Of several choices each has events of its own. */
function isFirst(choice: unknown): boolean {
  return (field(choice, 'index') ?? 0) === 0;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
