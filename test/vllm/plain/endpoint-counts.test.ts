import { describe } from 'vitest';
import { recordedExchanges } from '../../simulator/recorded.js';
import { holdToTable } from '../support/conforms.js';
import { describeServers } from '../support/servers.js';

/** It needs --reasoning-parser. */
const PARSED = 'anth-thinking-enabled';

/** The requests that were recorded on this path, each once. */
function shapesOf(path: string): Record<string, string> {
  const requests = recordedExchanges('v0.32-endpoints')
    .filter(({ name, request }) => request.head.split(' ')[1] === path && name !== PARSED)
    .map(({ name, request }) => [name, request.body ?? ''] as const);
  return Object.fromEntries(requests);
}

describeServers('plain', (server) => {
  describe.each([
    ['/v1/responses', 'response-outcomes'],
    ['/v1/messages', 'message-outcomes'],
  ])('%s has as many input tokens as on the real server, and as many as the proxy counted', (path, table) => {
    // 0.16 renders Responses in another way, and has no way to count Messages.
    const isOld = server.version === '0.16';
    const outcomes = isOld ? undefined : table;
    holdToTable(server, { path, table: outcomes, shapes: shapesOf(path), estimated: () => isOld });
  });
});
