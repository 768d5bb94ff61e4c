/** Tokens per UTF-16 unit of scripts other than Latin, the first code and the last one included. */
const RANGES: readonly (readonly [first: number, last: number, tokens: number])[] = [
  [0x0080, 0xffff, 2.6],
  [0x00a0, 0x00bf, 1.2],
  [0x00d7, 0x00d7, 1.2],
  [0x00f7, 0x00f7, 1.2],
  [0x0250, 0x036f, 1.8],
  [0x0370, 0x03ff, 1.1],
  [0x0400, 0x052f, 1.1],
  [0x0410, 0x044f, 0.48],
  [0x0451, 0x0451, 0.48],
  [0x0530, 0x058f, 1.2],
  [0x0590, 0x05ff, 0.52],
  [0x0600, 0x06ff, 1.2],
  [0x060c, 0x064a, 0.5],
  [0x0900, 0x097f, 1.25],
  [0x0980, 0x09ff, 1.4],
  [0x0b80, 0x0bff, 1.35],
  [0x0e00, 0x0e7f, 0.65],
  [0x10a0, 0x10ff, 1.2],
  [0x1100, 0x11ff, 3],
  [0x1200, 0x137f, 1.7],
  [0x1f00, 0x1fff, 2.5],
  [0x2000, 0x206f, 1.2],
  [0x2070, 0x2bff, 1.8],
  [0x2500, 0x259f, 1.1],
  [0x3000, 0x303f, 1],
  [0x3040, 0x30ff, 0.68],
  [0x3100, 0x33ff, 2],
  [0x4e00, 0x9fff, 1.1],
  [0xac00, 0xd7a3, 0.9],
  // A pair counts with its first half: most are emoji, others take a token a byte.
  [0xd800, 0xdbff, 4],
  [0xd83c, 0xd83e, 2],
  [0xdc00, 0xdfff, 0],
  [0xfe00, 0xfe0f, 1.2],
  [0xff00, 0xffef, 1],
];

const TOKENS_BY_UNIT = new Float32Array(0x10000);
for (const [first, last, tokens] of RANGES) TOKENS_BY_UNIT.fill(tokens, first, last + 1);

/** Tokens that a UTF-16 unit outside ASCII and Latin adds, measured on running text. */
export function tokensOfUnit(unit: number): number {
  return TOKENS_BY_UNIT[unit] as number;
}
