import { readFileSync } from 'node:fs';
import { request } from 'node:http';

/** An exchange that was recorded between a client and a real vLLM. */
export interface RecordedExchange {
  readonly name: string;
  readonly request: { readonly head: string; readonly body: string | null };
  readonly response: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

export function recordedExchanges(set: string): RecordedExchange[] {
  const text = readFileSync(new URL(`../fixtures/vllm/${set}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedExchange);
}

/** The recorded answer, chunked transfer undone. */
export function recordedAnswer(exchange: RecordedExchange): Answer {
  const raw = Buffer.from(exchange.response, 'utf8');
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw.subarray(0, end).toString('utf8').split('\r\n');
  const header = (name: string): string | undefined =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
  const body = raw.subarray(end + 4);
  return {
    status: Number(lines[0]?.split(' ')[1]),
    contentType: header('content-type'),
    body: (header('transfer-encoding') === 'chunked' ? unchunked(body) : body).toString('utf8'),
  };
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size > 0)) break;
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

/** Sends a recorded request as it was, to another address. */
export function replay(exchange: RecordedExchange, url: string): Promise<Answer> {
  const [line = '', ...headerLines] = exchange.request.head.replaceAll('\r\n', '\n').split('\n');
  const [method, path] = line.split(' ');
  const headers = headerLines
    .filter((header) => header !== '' && !/^(host|content-length):/i.test(header))
    .map((header) => header.split(': ') as [string, string]);
  const body = Buffer.from(exchange.request.body ?? '', 'utf8');
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      headers: { ...Object.fromEntries(headers), 'content-length': String(body.length) },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'],
          body: Buffer.concat(parts).toString('utf8'),
        }),
      );
    });
    sent.end(body);
  });
}

const madeUp = new Set([
  'id',
  'request_id',
  'created',
  'system_fingerprint',
  'content',
  'text',
  'reasoning',
  'arguments',
  'token',
  'logprob',
  'created_at',
  'item_id',
  'call_id',
  'tool_use_id',
  'signature',
  'thinking',
  'delta',
  'partial_json',
  'sequence_number',
  'cached_tokens',
  'cache_write_tokens',
  'rank',
]);

/** What must be equal: everything, in order, but the words of the model and what names the run. */
export function comparable(answer: Answer): unknown {
  if (answer.status !== 200) return answer;
  if (answer.contentType?.startsWith('text/event-stream')) {
    const events = answer.body.split('\n\n').map((event) => {
      const [, type = '', data = event] = /^(event: .*\n)?data: (.*)$/s.exec(event) ?? [];
      if (!data.startsWith('{')) return { choice: Number.POSITIVE_INFINITY, event: type + data };
      const chunk = JSON.parse(data);
      const choice: number = chunk.choices?.[0]?.index ?? Number.POSITIVE_INFINITY;
      return { choice, event: type + JSON.stringify(masked(chunk)) };
    });
    // Chance says which choice of several comes first.
    const sorted = events.toSorted((a, b) => (a.choice === b.choice ? 0 : a.choice - b.choice));
    const told = sorted.map(({ event }) => event);
    return { ...answer, body: answer.body.startsWith('event: ') ? withoutRepeats(told) : told };
  }
  if (!answer.body.startsWith('{')) return answer;
  return { ...answer, body: JSON.stringify(masked(JSON.parse(answer.body)), null, 1) };
}

/** Into how many pieces an answer falls depends on its words. */
function withoutRepeats(events: readonly string[]): string[] {
  return events.filter((event, at) => event !== events[at - 1]);
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const isChoice = 'finish_reason' in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === 'token_ids' && isChoice && Array.isArray(item)) return [key, item.length];
      // Null for a token that is no whole character.
      if (key === 'bytes') return [key, '<list or null>'];
      if (madeUp.has(key) && item !== null && !isObject(item)) return [key, `<${kind(item)}>`];
      return [key, masked(item)];
    }),
  );
}

function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !(Array.isArray(value) && typeof value[0] === 'number')
  );
}

function kind(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
