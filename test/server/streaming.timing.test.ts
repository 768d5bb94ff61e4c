import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { head, open } from './support/client.js';
import { chatBody, startPair } from './support/pair.js';

test.each([CHAT, '/v1/audio/speech'])(
  'passes events of %s as they come: 20 of them, 100 ms apart (ggml-org/llama.cpp#20872)',
  async (path) => {
    const { proxy } = await startPair({
      routes: {
        [`POST ${path}`]: (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          let sent = 0;
          const timer = setInterval(() => {
            response.write(`data: ${sent}\n\n`);
            sent += 1;
            if (sent < 20) return;
            clearInterval(timer);
            response.end('data: [DONE]\n\n');
          }, 100);
        },
      },
    });
    const response = await head(open(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) }));
    const at: number[] = [];
    for await (const chunk of response) {
      const events = String(chunk).match(/data: \d+\n\n/g) ?? [];
      for (const _event of events) at.push(performance.now());
    }
    expect(at).toHaveLength(20);
    const gaps = at.slice(1).map((time, i) => time - (at[i] as number));
    // 40 ms more or less are promised, three times that is allowed for.
    expect(Math.max(...gaps)).toBeLessThan(220);
    expect(gaps.filter((gap) => gap > 30).length).toBeGreaterThan(14);
  },
);

test('passes the head of a stream before its first event', async () => {
  let sendFirst: () => void = () => {};
  const { proxy } = await startPair({
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        sendFirst = () => response.end('data: [DONE]\n\n');
      },
    },
  });
  const response = await head(
    open(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ stream: true }) }),
  );
  sendFirst();
  for await (const chunk of response) expect(String(chunk)).toBe('data: [DONE]\n\n');
});
