import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/backends/contract.js';
import { createVllmBackend } from '../../../src/backends/vllm/vllm-backend.js';
import { callOf, contextFor, requestOf } from '../../backends/support/contexts.js';
import type { Shapes } from '../support/chat-parts.js';
import { FURTHER_SHAPES } from '../support/further-shapes.js';
import { outcomeOf, Recorded } from '../support/outcome.js';
import { PARITY_SHAPES } from '../support/parity-shapes.js';
import { describeServers, postTo } from '../support/servers.js';

const SHAPES: Shapes = { ...PARITY_SHAPES, ...FURTHER_SHAPES };
const recorded = new Recorded('chat-outcomes');
const generated = (shape: string) => recorded.outcome(shape, '0.32 plain usage');

describeServers('render', (server) => {
  test.each(Object.keys(SHAPES))('counts as a server with an engine does: %s', async (shape) => {
    const outcome = await outcomeOf(await postTo(server, '/tokenize', SHAPES[shape] as string));
    expect(outcome).toEqual(recorded.outcome(shape, '0.32 plain count'));
  });

  describe('the backend counts with it what a server with an engine generates from', () => {
    let backend: Backend;
    beforeAll(() => {
      backend = createVllmBackend(contextFor(server.url));
    });
    afterAll(() => backend.close?.());

    const answered = Object.keys(SHAPES).filter((shape) => typeof generated(shape) === 'number');
    test.each(answered)('%s', async (shape) => {
      const { tokens } = await backend.count(
        requestOf(SHAPES[shape] as string),
        callOf({ configured: false }),
      );
      expect(tokens).toBe(generated(shape));
    });
  });
});
