import { afterAll, beforeAll, describe } from 'vitest';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import type { Server } from './servers.js';

/** Defines the same tests twice: of the server, and of the server behind the proxy. */
export function describeBoth(server: Server, define: (server: Server, isProxied: boolean) => void): void {
  describe('directly', () => define(server, false));
  describe('through the proxy', () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url });
      await proxy.ready();
    });
    afterAll(() => proxy.close());
    const { version, setup, apiKey, isReal } = server;
    define(
      {
        version,
        setup,
        apiKey,
        isReal,
        get url() {
          return proxy.url;
        },
      },
      true,
    );
  });
}
