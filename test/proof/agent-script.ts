import type { WireCall, WireMessage } from './recording.js';

/** After so many calls an agent's ids begin anew, as those of some servers do. */
const CALL_IDS = 6;

export interface Step {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: unknown;
}

/** Writes a dialogue down, message by message. */
export class AgentScript {
  readonly messages: WireMessage[] = [];
  private calls = 0;

  /** The next customer: ids of calls start again. */
  begin(): void {
    this.calls = 0;
  }

  user(content: string): void {
    this.messages.push({ role: 'user', content });
  }

  say(content: string): void {
    this.messages.push({ role: 'assistant', content });
  }

  /** Calls of one message, and their results. */
  look(...steps: readonly Step[]): void {
    const calls = steps.map((step) => this.call(step));
    this.messages.push({ role: 'assistant', content: null, tool_calls: calls });
    for (const [at, { result }] of steps.entries()) {
      const content = typeof result === 'string' ? result : JSON.stringify(result);
      this.messages.push({ role: 'tool', tool_call_id: calls[at]?.id ?? '', content });
    }
  }

  private call({ name, input }: Step): WireCall {
    const id = `call_${(this.calls % CALL_IDS) + 1}`;
    this.calls += 1;
    return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  }
}
