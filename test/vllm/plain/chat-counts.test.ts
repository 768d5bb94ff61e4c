import { describe } from 'vitest';
import { holdToTable } from '../support/conforms.js';
import { FURTHER_SHAPES } from '../support/further-shapes.js';
import { PARITY_SHAPES } from '../support/parity-shapes.js';
import { describeServers } from '../support/servers.js';

describeServers('plain', (server) => {
  describe('a chat has as many prompt tokens as on the real server, and as many as the proxy counted', () => {
    holdToTable(server, {
      path: '/v1/chat/completions',
      shapes: { ...PARITY_SHAPES, ...FURTHER_SHAPES },
      table: 'chat-outcomes',
      tokenize: true,
    });
  });
});
