import { sentences } from '../../proof/prose.js';
import type { Random } from '../../proof/random.js';
import type { Reply, Upstreamed } from '../../proof/relay.js';

/** Files that each name the next ones to read; in each stands a mark. */
export interface Trail {
  readonly request: string;
  /** What the file at a path says. */
  readonly files: ReadonlyMap<string, string>;
  /** All marks, in the order of their names. */
  readonly marks: string;
}

export interface TrailShape {
  readonly name: string;
  readonly steps: number;
  /** Sentences in a file, of about 24 tokens each: so many at least, and at most. */
  readonly length: readonly [number, number];
}

/** Every third step names two files, of which the second leads nowhere. */
export function layTrail(random: Random, { name, steps, length }: TrailShape): Trail {
  const files = new Map<string, string>();
  const marks: string[] = [];
  const write = (path: string, next: readonly string[]): void => {
    const mark = `${name}-${random.hex(8)}`;
    marks.push(mark);
    const text = sentences(random, random.integer(...length));
    const middle = text.length >> 1;
    const lines = [...text.slice(0, middle), `Mark: ${mark}`, ...text.slice(middle)];
    files.set(path, [...lines, ...next.map((one) => `Next: ${one}`), ''].join('\n'));
  };
  const path = (step: number, side = ''): string => `notes/${name}-${step}${side}.txt`;
  for (let step = 1; step <= steps; step += 1) {
    const forks = step % 3 === 0 && step < steps;
    if (forks) write(path(step + 1, 'b'), []);
    write(path(step), step < steps ? [path(step + 1), ...(forks ? [path(step + 1, 'b')] : [])] : []);
  }
  const request = `Follow the trail that begins at ${path(1)}, and tell me every ${name} mark.`;
  return { request, files, marks: marks.sort().join(' ') };
}

const NEXT = /(?:Next:|begins at) (notes\/[\w-]+\.txt)/g;
const WANTED = /every (\w+) mark/;

/** How a model calls the tool that reads, and under which id. */
export interface Reading {
  readonly tool: string;
  readonly argument: string;
  readonly idOf: (asked: Upstreamed, index: number) => string;
}

/**
 * A model that knows nothing but what is in the request: it reads what the newest messages name, and tells the marks
 * that it sees where they name nothing more.
 */
export function follows({ tool, argument, idOf }: Reading): (asked: Upstreamed) => Reply {
  return (asked) => {
    const { messages } = asked.request;
    const results = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    const named = results.flatMap(({ content }) => [...(content ?? '').matchAll(NEXT)]);
    const calls = named.map(([, path], index) => ({
      id: idOf(asked, index),
      type: 'function' as const,
      function: { name: tool, arguments: JSON.stringify({ [argument]: path }) },
    }));
    if (calls.length > 0) return { message: { role: 'assistant', content: null, tool_calls: calls } };
    const wanted = WANTED.exec(lastUserMessage(asked))?.[1];
    const marks = new Set(asked.body.toString('utf8').match(new RegExp(`\\b${wanted}-[0-9a-f]{8}\\b`, 'g')));
    return { message: { role: 'assistant', content: [...marks].sort().join(' ') } };
  };
}

export function lastUserMessage({ request }: Upstreamed): string {
  return request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
}
