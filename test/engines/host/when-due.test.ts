import { expect, test } from 'vitest';
import { scriptedEngine, summarise } from '../../support/engine.js';
import { countingStub, dialogue, hosted, LARGEST_THAT_FITS, send, tokensOf } from '../../support/hosted.js';

test('compresses from the first token on that leaves less than the reserve, and not one earlier', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const fits = dialogue(3, LARGEST_THAT_FITS, 'fits');
  const before = await send(proxy, stub, fits);
  expect(before.told).toMatchObject({
    action: 'clamped',
    reason: 'cap_lowered',
    'prompt-tokens': '2816',
    'max-tokens': '256',
    window: '3072',
  });
  expect(before.messages).toEqual(fits);
  expect(engine.passes).toHaveLength(0);
  const over = await send(proxy, stub, dialogue(3, LARGEST_THAT_FITS + 1, 'over'));
  expect(over.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(engine.passes).toHaveLength(1);
});

test('a smaller cap of the request puts compression off: only so much room has to be left', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const fits = await send(proxy, stub, dialogue(3, 2972, 'fits'), { more: { max_tokens: 100 } });
  expect(fits.told).toMatchObject({ action: 'unchanged', reason: 'fits' });
  const over = await send(proxy, stub, dialogue(3, 2973, 'over'), { more: { max_tokens: 100 } });
  expect(over.told).toMatchObject({ reason: 'compression_due' });
  expect(engine.passes).toHaveLength(1);
});

test('counts and decides once more on what the engine made, and tells both sums', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages, options, self) => {
    const made = summarise(messages, options, self) as { role: string; content?: unknown }[];
    return made.map((message, i) => (i === 1 ? { ...message, content: 'y'.repeat(9200) } : message));
  });
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, dialogue(3, 3000));
  const left = tokensOf(sent.messages);
  expect(sent.told).toMatchObject({
    action: 'compressed',
    reason: 'compression_due',
    source: 'vllm-tokenize',
    'prompt-tokens': String(left),
    'original-prompt-tokens': '3000',
    'max-tokens': String(3072 - left),
  });
  expect(sent.told.conversation).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.parse(sent.body.toString())).toMatchObject({ max_tokens: 3072 - left });
});

test('tells the engine how long the request is and how long it may become', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, compression: { low_water: 0.5 } });
  await send(proxy, stub, dialogue(3, 3000));
  const [{ options, messages }] = engine.passes as [(typeof engine.passes)[0]];
  expect(options).toMatchObject({ currentTokens: 3000, targetTokens: 1408, force: false });
  expect(messages.map(({ message_uid: uid }) => typeof uid)).toEqual([
    'undefined',
    'string',
    'string',
    'string',
    'string',
    'string',
  ]);
});

test('with x-incontext-engine: none a request is only clamped, with the whole context as window', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3500);
  const sent = await send(proxy, stub, messages, { headers: { 'x-incontext-engine': 'none' } });
  expect(sent.told).toMatchObject({
    action: 'clamped',
    reason: 'cap_lowered',
    window: '4096',
    'max-tokens': '596',
  });
  expect(sent.messages).toEqual(messages);
  const full = await send(proxy, stub, dialogue(3, 3900), { headers: { 'x-incontext-engine': 'none' } });
  expect(full.told).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
  expect(engine.passes).toHaveLength(0);
});

test('an estimate triggers a compression too, unless compress_on_estimate says otherwise', async () => {
  const down = {
    'POST /tokenize': (_: unknown, response: { writeHead(s: number): { end(): void } }) =>
      void response.writeHead(503).end(),
  };
  const stub = await countingStub({ routes: down });
  const engine = scriptedEngine();
  const flags = { 'context-length': '4096' };
  const proxy = await hosted({ stub, engine, flags });
  const long = dialogue(6, 4000);
  const sent = await send(proxy, stub, long);
  expect(sent.told).toMatchObject({
    action: 'compressed',
    reason: 'compression_due',
    source: 'rough-fallback',
  });
  const strict = scriptedEngine();
  const careful = await hosted({ stub, engine: strict, flags, compression: { compress_on_estimate: false } });
  const raw = await send(careful, stub, long);
  expect(raw.messages).toEqual(long);
  expect(raw.told).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
  expect(strict.passes).toHaveLength(0);
});
