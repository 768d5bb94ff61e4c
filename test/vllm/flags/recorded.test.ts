import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedAnswer, recordedExchanges, replay } from '../../simulator/recorded.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { settled } from '../support/outcome.js';
import { describeServers, type Server } from '../support/servers.js';

// Recorded without --reasoning-parser.
const UNPARSED = 'auth-none_invocations';

/** Of 0.16 only what a client without the key gets was recorded. */
const exchanges = ({ version }: Server) =>
  recordedExchanges(version === '0.32' ? 'v0.32-s2' : 'v0.16')
    .filter(({ name }) => version === '0.32' || (name.startsWith('auth-') && name !== UNPARSED))
    .map((exchange) => [exchange.name, exchange] as const);

describeServers('flags', (server) => {
  test.each(exchanges(server))('answers as it was recorded to: %s', async (_name, exchange) => {
    const answer = await replay(exchange, server.url);
    expect(settled(answer, server)).toEqual(settled(recordedAnswer(exchange), server));
  });

  describe('answers so through the proxy too', () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url });
    });
    afterAll(() => proxy.close());

    test.each(exchanges(server))('%s', async (_name, exchange) => {
      const answer = await replay(exchange, proxy.url);
      expect(settled(answer, server)).toEqual(settled(recordedAnswer(exchange), server));
    });
  });
});
