import { LANGUAGES } from './language-corpus.js';
import { TECHNICAL } from './technical-corpus.js';

/** Texts of the kinds that agents send, by kind. */
export const CORPUS: Readonly<Record<string, string>> = { ...LANGUAGES, ...TECHNICAL };
