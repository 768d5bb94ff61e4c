import { LRUCache } from 'lru-cache';

/** What the prompt of a chat is made of. */
const PROMPT_MEMBERS = ['model', 'messages', 'tools', 'chat_template_kwargs', 'add_generation_prompt'];

/** Exact token ids, from the simulator's own `/tokenize`. */
export class TokenMeter {
  private readonly texts = new LRUCache<string, number>({ max: 4096 });

  constructor(private readonly simulatorUrl: string) {}

  /** The ids of a chat request's prompt; `undefined` where the server refuses the request. */
  async chat(request: Readonly<Record<string, unknown>>): Promise<readonly number[] | undefined> {
    const payload = Object.fromEntries(
      PROMPT_MEMBERS.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]),
    );
    return this.ids(payload);
  }

  /** How many tokens a text has. */
  async text(text: string): Promise<number> {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    const count = (await this.ids({ prompt: text, add_special_tokens: false }))?.length ?? 0;
    this.texts.set(text, count);
    return count;
  }

  private async ids(payload: unknown): Promise<readonly number[] | undefined> {
    const answer = await fetch(`${this.simulatorUrl}/tokenize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    const body = await answer.text();
    if (!answer.ok) return undefined;
    return (JSON.parse(body) as { readonly tokens: number[] }).tokens;
  }
}
