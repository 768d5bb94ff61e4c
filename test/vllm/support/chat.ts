import { postTo, type Server } from './servers.js';

/** The parts of an answer that tests look at. */
export interface Answer {
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly text?: string;
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly function: { name: string; arguments: string } }[];
    };
  }[];
  readonly error?: { readonly message: string; readonly type: string; readonly param: string | null };
}

/** What is said between `data: ` and the blank line, `[DONE]` last. */
export interface Stream {
  readonly contentType: string | null;
  readonly text: string;
  readonly events: readonly string[];
  readonly chunks: readonly Chunk[];
}

interface Chunk {
  readonly id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly text?: string;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Answer['usage'] | null;
}

export const CHAT = '/v1/chat/completions';

/** A user message whose prompt has exactly so many tokens. */
export function promptOf(tokens: number): object[] {
  return [{ role: 'user', content: Array.from({ length: tokens - 8 }, () => 'word').join(' ') }];
}

export async function ask(server: Server, body: object, path = CHAT): Promise<Answer> {
  return (await (await postTo(server, path, { model: 'tiny', ...body })).json()) as Answer;
}

export async function stream(server: Server, body: object, path = CHAT): Promise<Stream> {
  const answer = await postTo(server, path, { model: 'tiny', ...body, stream: true });
  const text = await answer.text();
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
  const chunks = events.filter((event) => event.startsWith('{')).map((event) => JSON.parse(event) as Chunk);
  return { contentType: answer.headers.get('content-type'), text, events, chunks };
}
