import { describe } from 'vitest';
import { COMPLETION_SHAPES, LARGEST_PROMPT } from '../support/completion-shapes.js';
import { holdToTable } from '../support/conforms.js';
import { describeServers } from '../support/servers.js';

describeServers('plain', (server) => {
  describe('a completion has as many prompt tokens as on the real server, and as many as the proxy counted', () => {
    holdToTable(server, {
      path: '/v1/completions',
      shapes: COMPLETION_SHAPES,
      table: 'completion-outcomes',
      largest: LARGEST_PROMPT,
      estimated: (shape) => shape === 'transfer: prompt ids',
    });
  });
});
