import { told } from '../../support/proxy.js';
import { settled } from './outcome.js';
import type { Server } from './servers.js';

/** An answer as it came. */
export interface Captured {
  readonly status: number;
  readonly statusText: string;
  /** Those of the server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those of the proxy, without `x-incontext-`. */
  readonly told: Readonly<Record<string, string>>;
  readonly body: string;
}

/** And the time, which is another for each answer. */
const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

/** A `fetch` that keeps every answer, oldest first. */
export function captured(answers: Captured[]): typeof fetch {
  return async (where, how) => {
    const response = await fetch(where, how);
    const body = await response.text();
    const headers = Object.fromEntries(
      [...response.headers].filter(
        ([name]) => !OF_A_CONNECTION.has(name) && !name.startsWith('x-incontext-'),
      ),
    );
    const { status, statusText } = response;
    answers.push({ status, statusText, headers, told: told(response), body });
    return new Response(body, { status, statusText, headers: response.headers });
  };
}

interface Compared {
  readonly server: Server;
  /** Another prompt was sent: its usage differs, and which of its tokens for an end the model takes. */
  readonly isCompressed: boolean;
}

/**
 * By what a client could tell an answer through the proxy from one without it; empty: by nothing but the headers of the
 * proxy, and what a server makes anew for each answer. A line for each difference.
 */
export function differences(through: Captured, direct: Captured, compared: Compared): string {
  const [ours, theirs] = [viewOf(through, compared), viewOf(direct, compared)];
  return Object.keys(ours)
    .filter((name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]))
    .map((name) => `${name}: ${JSON.stringify(ours[name])}, directly ${JSON.stringify(theirs[name])}`)
    .join('\n');
}

const USAGE = /"usage":\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g;
const STOP = /"stop_reason":\s*(?:null|\d+)/g;

function viewOf(answer: Captured, { server, isCompressed }: Compared): Record<string, unknown> {
  const { status, statusText } = answer;
  const { 'content-length': length, 'x-accel-buffering': buffering, ...headers } = answer.headers;
  const contentType = headers['content-type'];
  const isStream = contentType?.startsWith('text/event-stream') === true;
  const body = isCompressed
    ? answer.body.replace(USAGE, '"usage":{}').replace(STOP, '"stop_reason":0')
    : answer.body;
  return {
    status,
    statusText,
    headers,
    // A number of another length is in it.
    length: isCompressed ? typeof length : length,
    // Of an event stream it is the proxy's.
    buffering: isStream ? undefined : buffering,
    ids: shapesOf(answer.body),
    body: inOneTempo(settled({ status, contentType, body }, server)),
  };
}

const PIECE =
  /"delta":\{(?:"content":"<string>"|"tool_calls":\[\{"index":\d+,"function":\{"arguments":"<string>"\}\}\])\}/;

/** How many tokens stand in an event, and whether the last one comes with the end, depends on the server's load. */
function inOneTempo(view: unknown): unknown {
  const { body, ...rest } = view as { body: unknown };
  if (!Array.isArray(body)) return view;
  const events = body.map((event: string) => event.replace(PIECE, '"delta":{}'));
  return { ...rest, body: events.filter((event, at) => event !== events[at - 1]) };
}

/** The kinds of ids in the order of their first place, such as `chatcmpl-tool-` and 16 digits. */
function shapesOf(body: string): string[] {
  const ids = new Set([...body.matchAll(/"id":\s*"([^"]*)"/g)].map(([, id = '']) => id));
  return [...ids].map((id) => id.replace(/[0-9a-f]{8,}$/, (digits) => `${digits.length} digits`));
}
