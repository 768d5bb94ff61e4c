import { expect, test } from 'vitest';
import { readPage } from './support/markdown.js';
import { Reader } from './support/reader.js';
import { expectShown } from './support/shown.js';

test('README shows the demo as it is, but for counts and bars, which a summary decides', async () => {
  const { blocks } = readPage('README.md');
  const at = blocks.findIndex(({ text }) => text.includes('npm run demo'));
  const shown = blocks[at + 1];
  expect(shown?.language).toBe('text');
  const reader = await Reader.arrive();
  try {
    const seen = await reader.run('node dist/cli.js demo');
    const text = (shown?.text ?? '').replace(/[#=.]{21}/g, '...').replace(/\d{3,}/g, '...');
    expectShown(seen, { ...(shown as NonNullable<typeof shown>), text });
  } finally {
    await reader.leave();
  }
});
