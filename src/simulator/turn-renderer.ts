import { LRUCache } from 'lru-cache';
import type { ChatTemplate } from './chat-template.js';
import { identity, isDict, isList, type PythonDict, type PythonValue } from './python-value.js';

/** Characters of rendered turns that are kept. */
const cachedCharacters = 16_000_000;

const followUp: PythonDict = new Map([
  ['role', 'user'],
  ['content', 'x'],
]);

/**
 * Renders with Qwen3's template, turn by turn: a turn that another user message follows looks the same
 * ever after, so only the last one of a growing conversation costs anything.
 */
export class TurnRenderer {
  private readonly turns = new LRUCache<string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (text, key) => text.length + key.length + 1,
  });
  private readonly renderedFollowUp: string;

  constructor(private readonly template: ChatTemplate) {
    this.renderedFollowUp = template.render(new Map([['messages', [followUp]]]));
  }

  render(variables: ReadonlyMap<string, PythonValue>): string {
    const given = variables.get('messages');
    const turns = splitTurns(isList(given) ? given : []);
    const last = turns.pop() ?? [];
    const closed = turns.map((turn, at) =>
      this.closedTurn(turn, at === 0 ? (variables.get('tools') ?? null) : null),
    );
    const rest = new Map(variables).set('messages', last);
    if (closed.length > 0) rest.set('tools', null);
    return closed.join('') + this.template.render(rest);
  }

  private closedTurn(turn: readonly PythonValue[], tools: PythonValue): string {
    const key = identity([tools, ...turn]);
    const known = this.turns.get(key);
    if (known !== undefined) return known;
    const variables = new Map<string, PythonValue>([
      ['messages', [...turn, followUp]],
      ['tools', tools],
    ]);
    const text = this.template.render(variables).slice(0, -this.renderedFollowUp.length);
    this.turns.set(key, text);
    return text;
  }
}

/** Each turn but the first begins with a user message; what came before the first one belongs to it. */
function splitTurns(messages: readonly PythonValue[]): (readonly PythonValue[])[] {
  const starts = [...messages.keys()].filter((at) => isQuestion(messages[at])).slice(1);
  const edges = [0, ...starts, messages.length];
  return edges.slice(1).map((end, at) => messages.slice(edges[at], end));
}

/** To the template, a user message that is a wrapped tool result begins no turn. */
function isQuestion(message: PythonValue | undefined): boolean {
  if (!isDict(message) || message.get('role') !== 'user') return false;
  const content = message.get('content');
  if (typeof content !== 'string') return true;
  return !(content.startsWith('<tool_response>') && content.endsWith('</tool_response>'));
}
