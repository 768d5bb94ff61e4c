import { expect, test } from 'vitest';
import { scriptedEngine } from '../support/engine.js';
import { countingStub, dialogue, hosted, send } from '../support/hosted.js';

const LONG = (name: string) => dialogue(4, 2900, name);

async function start(source?: string) {
  const stub = await countingStub();
  const sessions = source === undefined ? {} : { conversation_id: source };
  const proxy = await hosted({ stub, engine: scriptedEngine(), file: { sessions } });
  return { stub, proxy };
}

test('groups requests by x-incontext-conversation, which goes nowhere', async () => {
  const { stub, proxy } = await start();
  const headers = { 'x-incontext-conversation': 'session-7' };
  const one = await send(proxy, stub, LONG('one'), { headers });
  const two = await send(proxy, stub, LONG('two'), { headers });
  expect(two.told.conversation).toBe(one.told.conversation);
  expect(JSON.stringify(stub.received.map(({ rawHeaders }) => rawHeaders))).not.toContain('session-7');
});

test('groups them by the header that the operator named, which goes on as it came', async () => {
  const { stub, proxy } = await start('header:X-Session-Id');
  const headers = { 'x-session-id': 'session-7' };
  const one = await send(proxy, stub, LONG('one'), { headers });
  const two = await send(proxy, stub, LONG('two'), { headers });
  const other = await send(proxy, stub, LONG('two'), { headers: { 'x-session-id': 'session-8' } });
  expect(two.told.conversation).toBe(one.told.conversation);
  expect(other.told.conversation).not.toBe(one.told.conversation);
  expect(stub.received.at(-1)?.headers['x-session-id']).toBe('session-8');
});

test('groups them by the member of the body that the operator named, which stays there', async () => {
  const { stub, proxy } = await start('body:session');
  const one = await send(proxy, stub, LONG('one'), { more: { session: 'session-7' } });
  const two = await send(proxy, stub, LONG('two'), { more: { session: 'session-7' } });
  expect(two.told.conversation).toBe(one.told.conversation);
  expect(JSON.parse(two.body.toString()).session).toBe('session-7');
});

test('prefers our own header to what the operator named', async () => {
  const { stub, proxy } = await start('body:session');
  const headers = { 'x-incontext-conversation': 'ours' };
  const one = await send(proxy, stub, LONG('one'), { headers, more: { session: 'a' } });
  const two = await send(proxy, stub, LONG('two'), { headers, more: { session: 'b' } });
  expect(two.told.conversation).toBe(one.told.conversation);
});

test.each([1, '', ' ', null, ['a'], 'x'.repeat(257)])('takes %j for no id', async (session) => {
  const { stub, proxy } = await start('body:session');
  const one = await send(proxy, stub, LONG('one'), { more: { session } });
  const two = await send(proxy, stub, LONG('two'), { more: { session } });
  expect(two.told.conversation).not.toBe(one.told.conversation);
});

test('an id never reaches across tenants', async () => {
  const { stub, proxy } = await start();
  const as = (key: string) => ({ authorization: `Bearer ${key}`, 'x-incontext-conversation': 'session-7' });
  const one = await send(proxy, stub, LONG('one'), { headers: as('key-one') });
  const two = await send(proxy, stub, LONG('two'), { headers: as('key-two') });
  expect(two.told.conversation).not.toBe(one.told.conversation);
});
