import { LONG_SYSTEM, LONG_TOOLS, PLANTS, type Plant } from './long-material.js';
import { answerText, logLines, sentences } from './prose.js';
import { Random } from './random.js';
import type { Fact, Recording, WireCall, WireMessage } from './recording.js';

export const LONG_TURNS = 60;
/** Turns with a tool result of 2,800 tokens. */
const BIG_RESULTS = [17, 38];
const BIG_LINES = 69;

/**
 * Sixty turns and twelve questions, about 37,000 tokens. Every second turn has one or two tool calls, one after the
 * other; two of them bring a very long result. Twelve facts are planted on the way, and one is corrected later.
 */
export function longConversation(seed = 7): Recording {
  const builder = new LongBuilder(new Random(seed));
  for (let turn = 1; turn <= LONG_TURNS; turn += 1) builder.work(turn);
  for (const { fact } of PLANTS) builder.ask(fact);
  return {
    name: 'long',
    system: LONG_SYSTEM,
    tools: LONG_TOOLS,
    messages: builder.messages,
    questions: builder.questions,
    facts: PLANTS.map(({ fact }) => fact),
    ids: [],
  };
}

class LongBuilder {
  readonly messages: WireMessage[] = [];
  readonly questions = new Map<number, Fact>();
  private calls = 0;

  constructor(private readonly random: Random) {}

  work(turn: number): void {
    const said = (by: Plant['by']): string[] =>
      PLANTS.filter((plant) => plant.turn === turn && plant.by === by).map(({ fact }) => fact.sentence);
    const outdated = PLANTS.filter((plant) => plant.outdatedTurn === turn).map(
      ({ fact }) => fact.outdated?.sentence ?? '',
    );
    this.user(this.mixed([...said('user'), ...outdated], this.random.integer(4, 6)));
    const planted = said('tool');
    const isBig = BIG_RESULTS.includes(turn);
    if (turn % 2 === 0 || isBig || planted.length > 0) this.look(planted, isBig);
    const own = said('assistant').join(' ');
    const answer = answerText(this.random, this.random.integer(8, 11));
    this.messages.push({ role: 'assistant', content: own === '' ? answer : `${own}\n\n${answer}` });
  }

  ask(fact: Fact): void {
    this.user(`${fact.question} Just the answer, please.`);
    this.questions.set(this.messages.length, fact);
    this.messages.push({ role: 'assistant', content: fact.sentence });
  }

  private user(content: string): void {
    this.messages.push({ role: 'user', content });
  }

  /** One or two calls, each when the one before was answered, and what they found. */
  private look(planted: readonly string[], isBig: boolean): void {
    const calls = Array.from({ length: isBig ? 1 : this.random.integer(1, 2) }, () => this.call());
    for (const [at, call] of calls.entries()) {
      this.messages.push({ role: 'assistant', content: null, tool_calls: [call] });
      const lines = logLines(this.random, isBig ? BIG_LINES : this.random.integer(3, 6));
      if (at === 0) lines.splice(Math.floor(lines.length / 2), 0, ...planted);
      this.messages.push({ role: 'tool', tool_call_id: call.id, content: lines.join('\n') });
    }
  }

  private call(): WireCall {
    this.calls += 1;
    const service = this.random.pick(['billing', 'imports', 'search', 'scheduler', 'exports']);
    const [name, input] = this.random.pick([
      ['search_logs', { service, query: 'slow or failing since the change' }],
      ['run_check', { check: 'latency', target: service }],
      ['read_file', { path: `services/${service}/limits.yaml` }],
    ] as const);
    const id = `call_${String(this.calls).padStart(4, '0')}${this.random.hex(8)}`;
    return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  }

  /** Prose with the given sentences somewhere in it. */
  private mixed(given: readonly string[], count: number): string {
    const all = sentences(this.random, count);
    for (const one of given) all.splice(this.random.integer(1, all.length - 1), 0, one);
    return all.join(' ');
  }
}
