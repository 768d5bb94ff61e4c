import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textPieces } from '../../src/simulator/text-pieces.js';
import { loadQwen } from '../../src/simulator/tokenizer.js';

const atoms = [
  'a',
  'Re',
  "'s",
  "'",
  '7',
  '42',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  '.',
  '-=',
  'é',
  'e\u0301',
  '\u0301',
];
const texts = fc
  .array(
    fc.constantFrom(...atoms, '你好', '，', '。', '・', 'ガ', '𠀀', '🙂', '\u00a0', 'word', '_', '?', '('),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

test('a text in pieces has the tokens of the whole', async () => {
  const { tokenizer } = await loadQwen();
  // Texts below the size that is cut: each encodes at once.
  const property = fc.property(texts, (text) => {
    const pieces = [...textPieces(text, 1)];
    expect(pieces.join('')).toBe(text);
    expect(pieces.flatMap((piece) => tokenizer.encode(piece))).toEqual(tokenizer.encode(text));
  });
  fc.assert(property, { numRuns: 3000 });
});

test('a long text is cut into many pieces, a long word into none', () => {
  expect([...textPieces('word '.repeat(10_000), 1000)].length).toBeGreaterThan(40);
  expect([...textPieces('你'.repeat(10_000), 1000)].length).toBe(1);
});
