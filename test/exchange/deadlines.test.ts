import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from '../../src/exchange/deadlines.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const late = () => new Error('late');
const never = () => new Promise<number>(() => {});

test('an answer in time is passed on, whether it is a value or an error', async () => {
  const deadlines = new Deadlines();
  await expect(deadlines.within(1000, Promise.resolve(7), late)).resolves.toBe(7);
  await expect(deadlines.within(1000, Promise.reject(new Error('refused')), late)).rejects.toThrow('refused');
});

test('each wait ends at its own deadline, at most a tenth of a second late', async () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  deadlines.within(1000, never(), late).catch(() => ended.push('long'));
  await vi.advanceTimersByTimeAsync(250);
  deadlines.within(300, never(), late).catch(() => ended.push('short'));
  await vi.advanceTimersByTimeAsync(290);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(110);
  expect(ended).toEqual(['short']);
  await vi.advanceTimersByTimeAsync(340);
  expect(ended).toEqual(['short']);
  await vi.advanceTimersByTimeAsync(110);
  expect(ended).toEqual(['short', 'long']);
});

test('once nothing waits, no timer is left', async () => {
  const deadlines = new Deadlines();
  await deadlines.within(1000, Promise.resolve(7), late);
  await vi.advanceTimersByTimeAsync(100);
  expect(vi.getTimerCount()).toBe(0);
});
