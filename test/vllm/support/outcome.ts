import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Answer, comparable } from '../../simulator/recorded.js';
import type { Server } from './servers.js';

/** What became of a request: its prompt tokens, or how it was refused. */
export type Outcome = number | { readonly status: number; readonly error: string };

/** Where the real server was recorded to have its packages. */
const PACKAGES = '/opt/venv/lib/python3.11/site-packages';

/** An answer's text with the server's own folders replaced by those of the recordings. */
export function placed(text: string): string {
  return text.replace(/(File \\*")[^"\\]*\/site-packages/g, `$1${PACKAGES}`);
}

/** What must be equal between an answer and the recorded one. */
export function settled(answer: Answer, { isReal }: Server): unknown {
  const seen = comparable({ ...answer, body: unfinishedJson(placed(answer.body)) }) as { body: unknown };
  const { body } = seen;
  // A busy server may send two tokens in one event, or a character in one of its own.
  return isReal && Array.isArray(body)
    ? { ...seen, body: body.filter((event, at) => event !== body[at - 1]) }
    : seen;
}

/** What a random model wrote before its answer was cut is left out. */
function unfinishedJson(text: string): string {
  return text.replace(/Invalid JSON: .*?(?=\\n|$)/s, 'Invalid JSON');
}

/** Reads a generation, or a count. */
export async function outcomeOf(answer: Response): Promise<Outcome> {
  const text = placed(await answer.text());
  const body = text.startsWith('{') ? JSON.parse(text) : undefined;
  const tokens: unknown = body?.usage?.prompt_tokens ?? body?.usage?.input_tokens ?? body?.count;
  if (typeof tokens === 'number') return tokens;
  // What a random model wrote before its answer was cut.
  const error = String(body?.error?.message ?? text).replace(/Invalid JSON: .*/s, 'Invalid JSON');
  return { status: answer.status, error };
}

/** Outcomes that real servers had, by column and row. */
export class Recorded {
  readonly #file: URL;
  readonly #rows: Record<string, Record<string, Outcome>>;

  constructor(name: string) {
    this.#file = new URL(`../../fixtures/vllm/${name}.json`, import.meta.url);
    this.#rows = existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : {};
  }

  outcome(row: string, column: string): Outcome | undefined {
    return this.#rows[row]?.[column];
  }

  /** Keeps what is `undefined` in none: with `INCONTEXT_RECORD` the table is written anew from a real server. */
  set(row: string, column: string, outcome: Outcome): void {
    this.#rows[row] = { ...this.#rows[row], [column]: outcome };
  }

  write(): void {
    const lines = Object.entries(this.#rows).map(
      ([row, cells]) => `${JSON.stringify(row)}: ${JSON.stringify(cells)}`,
    );
    writeFileSync(this.#file, `{\n${lines.join(',\n')}\n}\n`);
  }
}
