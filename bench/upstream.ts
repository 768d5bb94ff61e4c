import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Stands in for an inference server that costs nothing: fixed answers, a tokenizer that does not read. Where
 * `TOKEN_BYTES` is set, it counts so many bytes of a request as one token.
 */

const CONTEXT_LENGTH = Number(process.env.CONTEXT_LENGTH ?? 131_072);
const TOKEN_BYTES = Number(process.env.TOKEN_BYTES ?? 0);
const ANSWER = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(800) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 },
  }),
);
const CHUNKS = 200;
const CHUNK_GAP_MS = 20;
const CHUNK = Buffer.from(
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}\n\n`,
);
const LONG_IDS = `${'1234,'.repeat(99_999)}1`;
const COUNT = process.env.LONG_COUNT === '1' ? counted(100_000, LONG_IDS) : counted(1000);
const MODELS = Buffer.from(
  `{"object":"list","data":[{"id":"m","object":"model","max_model_len":${CONTEXT_LENGTH}}]}`,
);
const LARGE = Buffer.alloc(64 * 1024, 120);
const LARGE_CHUNKS = 800;

function counted(tokens: number, ids = '1,2,3'): Buffer {
  return Buffer.from(
    `{"count":${tokens},"max_model_len":${CONTEXT_LENGTH},"tokens":[${ids}],"token_strs":null}`,
  );
}

function json(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(CHUNK);
    sent += 1;
    if (sent < CHUNKS) return;
    clearInterval(timer);
    response.end('data: [DONE]\n\n');
  }, CHUNK_GAP_MS);
  response.once('close', () => clearInterval(timer));
}

function large(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  let left = LARGE_CHUNKS;
  const more = () => {
    while (left > 0) {
      left -= 1;
      if (!response.write(LARGE)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

const server = createServer((request, response) => {
  const { url = '' } = request;
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  request.once('end', () => {
    if (url === '/v1/models') json(response, MODELS);
    else if (url === '/tokenize')
      json(response, TOKEN_BYTES > 0 ? counted(Math.ceil(size / TOKEN_BYTES)) : COUNT);
    else if (url.startsWith('/large')) large(response);
    else if (url.includes('stream')) stream(response);
    else json(response, ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`upstream listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
