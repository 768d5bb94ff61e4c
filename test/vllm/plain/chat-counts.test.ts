import { describe } from 'vitest';
import { holdToTable } from '../support/conforms.js';
import { FURTHER_SHAPES } from '../support/further-shapes.js';
import { PARITY_SHAPES } from '../support/parity-shapes.js';
import { describeServers } from '../support/servers.js';

// 0.16 renders no `reasoning_content`, and generates from the messages where token ids are handed over.
const WRONG = new Set([
  'reasoning_content',
  'thoughts: before a call',
  'thoughts: last',
  'thoughts: reasoning null',
  'thoughts: both ways',
  'transfer: prompt ids',
]);

describeServers('plain', (server) => {
  describe('a chat has as many prompt tokens as on the real server, and as many as the proxy counted', () => {
    holdToTable(server, {
      path: '/v1/chat/completions',
      shapes: { ...PARITY_SHAPES, ...FURTHER_SHAPES },
      table: 'chat-outcomes',
      tokenize: true,
      wrong: (shape) => server.version === '0.16' && WRONG.has(shape),
    });
  });
});
