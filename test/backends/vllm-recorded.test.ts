import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOf, contextFor, failureOf, requestOf, vllm } from './support/contexts.js';
import { type Recorded, recordings, tokenizeIdentity } from './support/recordings.js';

/** Answers with the recorded bytes; which ones, the test says or the request's content decides. */
let choose: (body: string) => string | undefined = () => undefined;
let url = '';
let version = '';
let hidesTools = false;
/** What the server says of itself beside the recorded answers: its version, and samples counted for `tool_choice: none`. */
const ofItself = (path: string | undefined, body: string): unknown => {
  if (path === '/version') return { version };
  if (path === '/v1/messages/count_tokens' && version !== '0.16.0')
    return { input_tokens: hidesTools || !body.includes('"tools"') ? 10 : 127 };
  if (path === '/v1/chat/completions/render' && version === '0.16.0')
    return [[], [{ prompt_token_ids: body.includes('"tools"') ? [1, 2, 3] : [1] }]];
  return undefined;
};
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const own = ofItself(request.url, body);
    if (own !== undefined) {
      response.end(JSON.stringify(own));
      return;
    }
    const answer = request.url === '/tokenize' ? choose(body) : undefined;
    response.socket?.end(answer ?? 'HTTP/1.1 501 Not Recorded\r\ncontent-length: 0\r\n\r\n');
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const promptTokens = ({ body }: Recorded): unknown => {
  try {
    return JSON.parse(body).usage?.prompt_tokens;
  } catch {
    return undefined;
  }
};

const SETS = [
  // How many of the recorded chats have their count on record too.
  ['v0.32', 47],
  ['v0.16', 45],
  ['v0.32-s2', 12],
] as const;

for (const [set, size] of SETS) {
  const all = recordings(set);
  const counts = new Map(
    all
      .filter(
        ({ path, status, request }) => path === '/tokenize' && status === 200 && request.has('messages'),
      )
      .map((one) => [tokenizeIdentity(one.request), one.answer]),
  );
  const chats = all.filter((one) => one.path === '/v1/chat/completions' && promptTokens(one) !== undefined);
  const isOf = () => {
    version = set === 'v0.16' ? '0.16.0' : '0.32.0';
    hidesTools = set === 'v0.32-s2';
  };

  test(`the count of a chat is the usage that a real vLLM reported: ${set}`, async () => {
    isOf();
    choose = (body) => counts.get(tokenizeIdentity(requestOf(body)));
    let compared = 0;
    for (const chat of chats) {
      const backend = vllm(contextFor(url));
      const count = backend.count(chat.request, callOf({ configured: false }));
      const { tokens } = await count.catch(() => ({ tokens: undefined }));
      if (tokens === undefined) continue;
      expect(tokens, chat.name).toBe(promptTokens(chat));
      compared += 1;
    }
    expect(compared).toBe(size);
  });

  test(`every recorded answer of /tokenize is read: ${set}`, async () => {
    const answers = all.filter(({ path, request }) => path === '/tokenize' && request.has('messages'));
    isOf();
    for (const recorded of answers) {
      choose = () => recorded.answer;
      const count = vllm(contextFor(url)).count(requestOf('{"messages":[]}'), callOf({ configured: false }));
      if (recorded.status === 200) {
        const { count: tokens, max_model_len: contextLength } = JSON.parse(recorded.body);
        expect(await count, recorded.name).toEqual({ tokens, contextLength });
      } else {
        const failure = recorded.body.includes('does not exist') ? undefined : 'status';
        expect((await failureOf(count)).code, recorded.name).toBe(failure);
      }
    }
    expect(answers.length).toBeGreaterThan(20);
  });
}
