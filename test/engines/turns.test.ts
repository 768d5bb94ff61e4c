import { expect, test } from 'vitest';
import { othersTurn } from '../../src/engines/turns.js';

/** Work that is longer than a slice. */
function work(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

test('of several that work long only one goes on in each turn of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const next = (): void => {
    turn += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const turns: number[] = [];
  const worker = async (): Promise<void> => {
    for (let step = 0; step < 4; step += 1) {
      work();
      await othersTurn();
      turns.push(turn);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  isOver = true;
  expect(turns).toHaveLength(12);
  expect(new Set(turns).size).toBe(12);
});

test('work whose signal aborts ends where it would have gone on', async () => {
  const controller = new AbortController();
  await othersTurn(controller.signal);
  work();
  const waiting = othersTurn(controller.signal);
  controller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
});
