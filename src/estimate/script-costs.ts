/** Tokens per UTF-16 unit of scripts other than Latin, the first code and the last one included. */
const RANGES: readonly (readonly [first: number, last: number, tokens: number])[] = [
  [0x0080, 0xffff, 2.6],
  [0x00a0, 0x00bf, 1.2],
  [0x00d7, 0x00d7, 1.2],
  [0x00f7, 0x00f7, 1.2],
  [0x0250, 0x036f, 1.8],
  [0x0370, 0x03ff, 1.1],
  [0x0400, 0x052f, 1.8],
  [0x0410, 0x044f, 0.48],
  [0x0451, 0x0451, 0.48],
  [0x0530, 0x058f, 1.2],
  [0x0590, 0x05ff, 1.6],
  [0x05d0, 0x05ea, 0.52],
  [0x0600, 0x06ff, 1.5],
  [0x060c, 0x064a, 0.5],
  [0x0900, 0x097f, 1.25],
  [0x0980, 0x09ff, 1.4],
  [0x0b80, 0x0bff, 1.35],
  [0x0c00, 0x0cff, 1.85],
  [0x0d00, 0x0d7f, 1.7],
  [0x0d80, 0x0dff, 1.95],
  [0x0e00, 0x0e7f, 0.65],
  [0x0f00, 0x0fff, 1.6],
  [0x1000, 0x109f, 1.9],
  [0x10a0, 0x10ff, 1.2],
  [0x1100, 0x11ff, 3],
  [0x1200, 0x137f, 1.7],
  [0x1780, 0x17ff, 1.6],
  [0x1f00, 0x1fff, 2.5],
  [0x2000, 0x206f, 1.2],
  [0x2070, 0x2bff, 1.8],
  [0x2500, 0x259f, 1.1],
  [0x3000, 0x303f, 1],
  [0x3040, 0x30ff, 0.68],
  [0x3100, 0x33ff, 2],
  [0x3400, 0x4dbf, 3],
  [0x4e00, 0x9fff, 1.24],
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

/** Characters of everyday Chinese, simplified and traditional, most of which form tokens with their neighbours. */
const EVERYDAY =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事' +
  '成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日者意无力它与长把机十民第公此已' +
  '工使情明性知全三又关点正业外将两高间由问很最重并物手应向头文体相见被利什二等产或新己制身果加月话合回特代内信表化老给' +
  '世位次度门任先通教原提及比员解水名真论处走各入几口认条平系气题活更别打变四总何电数安少报才结反受目太量再建务做接必件' +
  '计期市直指区保至形社便展五书非却光放像权设式色路记住告类求据程北边该交规万取望术共确传清今切让识带' +
  '這個們來時說會對發過後著裡經學當沒動樣國為開無長機關業將兩間問應頭體見產給門員論處條氣題變總電報結務計區書權設記類據' +
  '邊該規萬術確傳讓識帶';
for (const character of EVERYDAY) TOKENS_BY_UNIT[character.charCodeAt(0)] = 0.66;

/** Tokens that a UTF-16 unit outside ASCII and Latin adds, measured on running text. */
export function tokensOfUnit(unit: number): number {
  return TOKENS_BY_UNIT[unit] as number;
}
