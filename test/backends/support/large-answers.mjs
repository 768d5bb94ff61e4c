// A tokenizer in a process of its own, so that its CPU time is not counted with the backend's.
import { createServer } from 'node:http';

const tokens = Number(process.argv[2]);
const ids = Array.from({ length: tokens }, (_, i) => (i * 7919) % 2500);
const answer = Buffer.from(
  JSON.stringify({ count: tokens, max_model_len: 131_072, tokens: ids, token_strs: null }),
);
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ port: server.address().port, bytes: answer.length })),
);
