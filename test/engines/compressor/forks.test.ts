import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { filler } from './support/histories.js';
import { run } from './support/invariants.js';
import { randomFrom } from './support/summarisers.js';

function turns(count: number, name: string, seed: number): Message[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, i): Message[] => [
    { role: 'user', content: `See ${name}${100 + i}. ${filler(40, random)}` },
    { role: 'assistant', content: filler(300, random) },
  ]).flat();
}

const last: Message = { role: 'user', content: 'go on' };

test('an instance that has seen another branch says the same as one that has not', async () => {
  const common = [...turns(12, 'AB', 1), last];
  const shared = build();
  const target = Math.floor(roughly(common) * 0.5);
  const first = (await run(shared, structuredClone(common), target)).result ?? [];
  const branch = (name: string) => [
    ...first,
    { role: 'assistant', content: 'ok' },
    ...turns(12, name, 2),
    last,
  ];
  await run(shared, structuredClone(branch('LEFT')), target);
  const seen = (await run(shared, structuredClone(branch('RIGHT')), target)).result;
  const fresh = (await run(build(), structuredClone(branch('RIGHT')), target)).result;
  expect(JSON.stringify(seen)).toBe(JSON.stringify(fresh));
  expect(JSON.stringify(seen)).not.toContain('LEFT');
});

test('marks that went through JSON are as good as new', async () => {
  const view = [...turns(12, 'AB', 1), last];
  const target = Math.floor(roughly(view) * 0.5);
  const first = (await run(build(), view, target)).result ?? [];
  const next = [...first, { role: 'assistant', content: 'ok' }, ...turns(12, 'CD', 2), last];
  const stored = JSON.parse(JSON.stringify(next)) as Message[];
  const once = (await run(build(), structuredClone(next), target)).result;
  expect(JSON.stringify((await run(build(), stored, target)).result)).toBe(JSON.stringify(once));
});

test('a mark that is not ours is a message like any other', async () => {
  for (const mark of [
    { engine: 'lcm' },
    { engine: 'compressor', version: 99, kind: 'summary' },
    7,
    'x',
    null,
  ]) {
    const view = [
      { ...last, content: 'odd', _engine_mark: mark },
      { role: 'assistant', content: 'x' },
      ...turns(12, 'AB', 1),
      last,
    ];
    const { result } = await run(build(), structuredClone(view), Math.floor(roughly(view) * 0.5));
    expect(result?.length).toBeLessThan(view.length);
  }
});
