import { expect, test } from 'vitest';
import { describeBoth } from '../support/behind-proxy.js';
import { CHAT } from '../support/chat.js';
import { describeServers, headersFor, type Server } from '../support/servers.js';

const BODY = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'hello there' }],
  max_tokens: 3000,
  ignore_eos: true,
};

/** How many generations are running. */
async function running(server: Server): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: headersFor(server) })).text();
  return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(metrics)?.[1]);
}

describeServers(
  'plain',
  (server) => {
    describeBoth(server, (asked) => {
      test.each([true, false])('a client that leaves ends its generation, streamed: %s', async (isStream) => {
        const before = await running(server);
        const leave = new AbortController();
        const answer = fetch(asked.url + CHAT, {
          method: 'POST',
          headers: headersFor(asked),
          body: JSON.stringify({ ...BODY, stream: isStream }),
          signal: leave.signal,
        });
        const settled = Promise.allSettled([answer]);
        await expect.poll(() => running(server), { timeout: 20_000 }).toBe(before + 1);
        if (isStream) await (await answer).body?.getReader().read();
        leave.abort();
        await expect.poll(() => running(server), { timeout: 20_000 }).toBe(before);
        await settled;
      });
    });
  },
  { chunkDelayMs: 20 },
);
