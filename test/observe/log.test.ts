import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exceptionType } from '../../src/observe/log.js';

const LOG = resolve(import.meta.dirname, '../../dist/observe/log.js');

function stderrOf(script: string): string {
  const program = `import { createLog } from ${JSON.stringify(LOG)}; ${script}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program]).stderr.toString();
}

test('writes one JSON object a line with level and ISO time, everything by the exit', () => {
  const before = Date.now();
  const lines = stderrOf(
    "const log = createLog('info'); log.debug('no'); log.info({ n: 1 }, 'a'); log.warn('b');",
  );
  const [first, second, ...others] = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toEqual({ level: 'info', time: expect.any(String), n: 1, msg: 'a' });
  expect(second).toMatchObject({ level: 'warn', msg: 'b' });
  expect(others).toEqual([]);
  const time = Date.parse(first?.time as string);
  expect(new Date(time).toISOString()).toBe(first?.time);
  expect(time).toBeGreaterThanOrEqual(before);
});

test('writes what was logged before an uncaught exception', () => {
  expect(stderrOf("createLog('info').info('last words'); throw new Error('x');")).toContain('last words');
});

test('however many logs a process opens, every line is written once, and nothing piles up', () => {
  const open = "createLog('info').info('line');";
  const listeners = "console.error(process.listenerCount('exit'));";
  const [one, twenty, ...lines] = stderrOf(
    `${open} ${listeners} for (let i = 1; i < 20; i += 1) ${open} ${listeners}`,
  ).split('\n');
  expect(twenty).toBe(one);
  expect(lines.filter((line) => line.includes('"msg":"line"'))).toHaveLength(20);
});

test('names exceptions by their class alone', () => {
  class OwnError extends Error {}
  expect(exceptionType(new RangeError('secret'))).toBe('RangeError');
  expect(exceptionType(new OwnError('secret'))).toBe('OwnError');
  expect(exceptionType('secret')).toBe('string');
});
