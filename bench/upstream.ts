import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands in for an inference server that costs nothing: fixed answers, a tokenizer that does not read. */

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
const COUNT = Buffer.from('{"count":1000,"max_model_len":131072,"tokens":[1,2,3],"token_strs":null}');
const LONG_COUNT = Buffer.from(
  `{"count":100000,"max_model_len":131072,"tokens":[${'1234,'.repeat(99_999)}1],"token_strs":null}`,
);
const MODELS = Buffer.from('{"object":"list","data":[{"id":"m","object":"model","max_model_len":131072}]}');
const LARGE = Buffer.alloc(64 * 1024, 120);
const LARGE_CHUNKS = 800;

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
  request.resume();
  request.once('end', () => {
    if (url === '/v1/models') json(response, MODELS);
    else if (url === '/tokenize') json(response, process.env.LONG_COUNT === '1' ? LONG_COUNT : COUNT);
    else if (url.startsWith('/large')) large(response);
    else if (url.includes('stream')) stream(response);
    else json(response, ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`upstream listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
