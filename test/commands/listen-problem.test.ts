import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listenProblem } from '../../src/commands/listen-problem.js';
import { loadFrom } from '../config/load-from.js';
import { command } from '../support/command.js';

const listening = (code: string, more: object) =>
  Object.assign(new Error(code), { code, syscall: 'listen', ...more });

test.each([
  ['EADDRINUSE', '--port', '80', '0, for any free port'],
  ['EACCES', '--port', '80', '8787'],
  ['EADDRNOTAVAIL', '--host', '192.0.2.1', '127.0.0.1'],
  ['EINVAL', '--host', '192.0.2.1', '127.0.0.1'],
])('%s is said to be a mistake in %s, with a value that would work', (code, setting, value, example) => {
  const error = listening(code, { address: '192.0.2.1', port: 80 });
  const problem = listenProblem(error, undefined);
  expect(problem).toMatchObject({ setting, value, example });
  expect(problem?.rule).toMatch(/^must be /);
  expect(problem?.rule).toContain(code);
});

test('a name that does not resolve is said to be a mistake in the host', () => {
  const error = listening('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'nowhere' });
  expect(listenProblem(error, undefined)).toMatchObject({ setting: '--host', value: 'nowhere' });
});

test('the setting is named as the user wrote it', () => {
  const loaded = loadFrom({ env: { INCONTEXT_HOST: 'nowhere' }, yaml: 'server: { port: 80 }' });
  if (!loaded.ok) throw new Error('refused');
  const nameFor = (code: string) =>
    listenProblem(listening(code, { address: 'a', port: 80 }), loaded.sources)?.setting;
  expect(nameFor('EADDRINUSE')).toBe('server.port in incontext.yaml');
  expect(nameFor('EADDRNOTAVAIL')).toBe('INCONTEXT_HOST');
});

test('no other error is taken for one of listening', () => {
  expect(listenProblem(new Error('x'), undefined)).toBeUndefined();
  expect(listenProblem(listening('EMFILE', {}), undefined)).toBeUndefined();
  expect(listenProblem(listening('EACCES', { syscall: 'open' }), undefined)).toBeUndefined();
  expect(listenProblem('EACCES', undefined)).toBeUndefined();
});

test.each([
  ['serve', ['--upstream', 'http://127.0.0.1:1']],
  ['simulate', []],
])('%s says which setting to change where its address cannot be had', async (name, flags) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => taken.once('listening', done));
  const address = taken.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  const onPort = command([name, ...flags, '--port', port]);
  const onHost = command([name, ...flags, '--port', '0', '--host', '192.0.2.1']);
  expect([await onPort.ended, await onHost.ended]).toEqual([1, 1]);
  taken.close();
  expect(onPort.stderr()).toBe(`1 setting is refused:

  --port = ${port}
    must be free: something else listens there (EADDRINUSE on 127.0.0.1)
    for example: 0, for any free port
`);
  expect(onHost.stderr()).toBe(`1 setting is refused:

  --host = 192.0.2.1
    must be an address of this machine (EADDRNOTAVAIL)
    for example: 127.0.0.1
`);
});
