/** The parts of an answer that tests look at. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number } | null;
  };
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly stop_reason: string | null;
    readonly text?: string;
    readonly logprobs: { readonly content: readonly { readonly token: string }[] } | null;
    readonly message: {
      readonly content: string | null;
      readonly reasoning: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { name: string; arguments: string };
      }[];
    };
  }[];
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: number;
  };
}

interface Delta {
  readonly content?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly index: number;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

export interface Chunk {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Delta;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly completion_tokens: number };
  readonly error?: { readonly message: string };
}

export function post(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
}

/** One user message. */
export function said(content: string): object[] {
  return [{ role: 'user', content }];
}

export async function chat(url: string, body: object): Promise<ChatAnswer> {
  return (await (await post(`${url}/v1/chat/completions`, body)).json()) as ChatAnswer;
}

/** The data of each event of a streamed chat, `[DONE]` included. */
export async function chatEvents(url: string, body: object): Promise<string[]> {
  const answer = await post(`${url}/v1/chat/completions`, { ...body, stream: true });
  return eventsOf(await answer.text());
}

export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.slice('data: '.length));
}

export function chunksOf(events: readonly string[]): Chunk[] {
  return events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as Chunk);
}

export async function countOf(url: string, prompt: string): Promise<number> {
  const answer = await post(`${url}/tokenize`, { prompt });
  return ((await answer.json()) as { count: number }).count;
}
