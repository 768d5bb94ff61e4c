import { Agent, request } from 'undici';

/** The load, in a process of its own: reads jobs as JSON lines from its parent, answers with figures. */

export interface LoadJob {
  readonly url: string;
  readonly path: string;
  readonly requests: number;
  readonly concurrency: number;
  /** Bytes of the request's body. */
  readonly bodyBytes: number;
  /** What is new in each body: nothing (its count is cached), its last message, or its first one. */
  readonly fresh: 'nothing' | 'last' | 'first';
  readonly stream: boolean;
  /** Beside the content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
}

let serial = Date.now();

const PARAGRAPH = 'The quick brown fox, "jumping" over\n\tthe lazy dog; code: if (a < b) { return x[1]; } ';

function message(text: string, role = 'user'): string {
  return JSON.stringify({ role, content: text });
}

/** A chat request of about `bodyBytes` in messages of 2 kB, by turns the user's and the assistant's. */
function body(job: LoadJob): string {
  serial += 1;
  const head = `{"model":"m","max_tokens":4096,"stream":${job.stream},"user":"u","messages":[`;
  const parts = [message(`opening ${job.fresh === 'first' ? serial : ''}`)];
  let size = head.length + (parts[0] as string).length;
  while (size < job.bodyBytes) {
    const repeats = Math.floor((job.bodyBytes - size) / PARAGRAPH.length);
    const role = parts.length % 2 === 0 ? 'user' : 'assistant';
    parts.push(message(PARAGRAPH.repeat(Math.max(1, Math.min(24, repeats))), role));
    size += (parts.at(-1) as string).length + 1;
  }
  parts.push(message(`question ${job.fresh === 'last' ? serial : ''}`));
  return `${head}${parts.join(',')}]}`;
}

async function run(job: LoadJob): Promise<LoadResult> {
  const dispatcher = new Agent({
    connections: job.concurrency,
    pipelining: 1,
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  const times: number[] = [];
  let failures = 0;
  let left = job.requests;
  const same = body(job);
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const payload = job.fresh === 'nothing' ? same : body(job);
      const startedAt = performance.now();
      try {
        const answer = await request(job.url + job.path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...job.headers },
          body: payload,
          dispatcher,
        });
        if (answer.statusCode !== 200) failures += 1;
        await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
      } catch {
        failures += 1;
      }
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, worker));
  await dispatcher.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), failures };
}

process.on('message', (job: LoadJob) => {
  void run(job).then((result) => process.send?.(result));
});
