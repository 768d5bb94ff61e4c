export interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface WireUser {
  readonly role: 'user';
  readonly content: string;
}

export interface WireAssistant {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: WireCall[];
}

export interface WireTool {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

export type WireMessage = WireUser | WireAssistant | WireTool;

export interface WireFunction {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Record<string, unknown>;
  };
}

/** Something that is said once and asked for much later. */
export interface Fact {
  readonly sentence: string;
  /** What an answer needs literally in view. */
  readonly value: string;
  readonly question: string;
  /** What was true before: a view with both must tell the newer one last. */
  readonly outdated?: { readonly sentence: string; readonly value: string };
}

/** A whole dialogue, written down before it is played. */
export interface Recording {
  readonly name: string;
  readonly system: string;
  readonly tools: readonly WireFunction[];
  readonly messages: readonly WireMessage[];
  /** The fact that the assistant message at that place answers. */
  readonly questions: ReadonlyMap<number, Fact>;
  readonly facts: readonly Fact[];
  /** Ids of records, none of them a part of another. */
  readonly ids: readonly string[];
}

/** Where user messages stand: the n-th turn begins at `turnStarts(...)[n - 1]`. */
export function turnStarts(messages: readonly WireMessage[]): number[] {
  return [...messages.keys()].filter((at) => messages[at]?.role === 'user');
}

/** All that a message says, tool calls included. */
export function textOf(message: WireMessage): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return [message.content ?? '', ...calls.map((call) => call.function.arguments)].join('\n');
}

/** Where each id occurs first. */
export function firstOccurrences(recording: Recording): ReadonlyMap<string, number> {
  const texts = recording.messages.map(textOf);
  const found = recording.ids.map((id) => [id, texts.findIndex((text) => text.includes(id))] as const);
  return new Map(found.filter(([, at]) => at >= 0));
}
