import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedAnswer, recordedExchanges, replay } from '../../simulator/recorded.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { settled } from '../support/outcome.js';
import { describeServers, type Server } from '../support/servers.js';

// It kills 0.16: its clients get this answer, and then none.
const FATAL = new Set(['cmpl-ids-neg']);
// The proxy lowers a cap that the server would refuse, and gives one in place of a value that is none.
const CAPPED = new Set([
  ...['chat-p20-m4097', 'chat-p20-m100000', 'chat-p20-mct4097', 'chat-both-mct5-m2', 'cmpl-m5000'],
  ...['chat-m0', 'chat-mct0', 'chat-mfloat55', 'chat-mneg1', 'chat-stream-mneg1'],
]);

// What asks for no key is the same where there is none.
const needsKey = (name: string) => name.startsWith('auth-') && name !== 'auth-none_invocations';

const exchanges = ({ version, isReal }: Server) =>
  recordedExchanges(`v${version}`)
    .filter(({ name }) => !needsKey(name) && !(isReal && version === '0.16' && FATAL.has(name)))
    .map((exchange) => [exchange.name, exchange] as const);

describeServers('plain', (server) => {
  test.each(exchanges(server))('answers as it was recorded to: %s', async (_name, exchange) => {
    const answer = await replay(exchange, server.url);
    expect(settled(answer, server)).toEqual(settled(recordedAnswer(exchange), server));
  });

  describe('answers so through the proxy too', () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url });
      await proxy.ready();
    });
    afterAll(() => proxy.close());

    test.each(exchanges(server).filter(([name]) => !CAPPED.has(name)))('%s', async (_name, exchange) => {
      const answer = await replay(exchange, proxy.url);
      expect(settled(answer, server)).toEqual(settled(recordedAnswer(exchange), server));
    });
  });
});
