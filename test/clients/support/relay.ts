import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a relay answers in the server's place. */
export interface Failure {
  /** `reset`: the connection breaks without an answer. */
  readonly status: number | 'reset';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Stands between the proxy and the server, so that any server fails when it has to. */
export interface Relay {
  readonly url: string;
  /** Generations that arrived since the last `fail`. */
  readonly generations: number;
  /** Generations whose client went before the end. */
  readonly aborted: number;
  /** The next so many generations fail. */
  fail(times: number, failure: Failure): void;
  /** The next so many streams never come to their last event, however fast the server is. */
  leaveOpen(times: number): void;
  close(): Promise<void>;
}

const GENERATES = new Set(['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages']);

export async function startRelay(upstream: string): Promise<Relay> {
  const counts = { generations: 0, aborted: 0, toFail: 0, toLeaveOpen: 0 };
  let failure: Failure = { status: 503 };
  const server = createServer((incoming, outgoing) => {
    let end = true;
    if (GENERATES.has(incoming.url ?? '')) {
      counts.generations += 1;
      if (counts.toFail > 0) {
        counts.toFail -= 1;
        return refuse(incoming, outgoing, failure);
      }
      if (counts.toLeaveOpen > 0) {
        counts.toLeaveOpen -= 1;
        end = false;
      }
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) counts.aborted += 1;
      });
    }
    pass(incoming, outgoing, { upstream, end });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get generations() {
      return counts.generations;
    },
    get aborted() {
      return counts.aborted;
    },
    fail: (times, how) => {
      Object.assign(counts, { generations: 0, toFail: times });
      failure = how;
    },
    leaveOpen: (times) => {
      counts.toLeaveOpen = times;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { status, headers }: Failure): void {
  if (status === 'reset') return void incoming.socket.destroy();
  incoming.resume();
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(
    JSON.stringify({ error: { message: 'busy', type: 'ServiceUnavailable', param: null, code: status } }),
  );
}

interface Passed {
  readonly upstream: string;
  /** False: the last event and the answer's end are kept back. */
  readonly end: boolean;
}

const LAST_EVENT = /data: \[DONE\]|event: (?:message_stop|response\.completed)/;

function pass(incoming: IncomingMessage, outgoing: ServerResponse, { upstream, end }: Passed): void {
  const { method, url, headers } = incoming;
  const sent = request(`${upstream}${url}`, {
    method,
    headers: { ...headers, host: new URL(upstream).host },
  });
  sent.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (end) answer.pipe(outgoing);
    else answer.on('data', (chunk: Buffer) => outgoing.write(String(chunk).split(LAST_EVENT)[0] as string));
    answer.once('error', () => outgoing.destroy());
  });
  sent.once('error', () => outgoing.destroy());
  outgoing.once('close', () => sent.destroy());
  incoming.pipe(sent);
}
