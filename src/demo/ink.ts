import type { Terminal } from './terminal.js';

/** What a text means; how it looks is up to the terminal. */
export type Tone = 'plain' | 'strong' | 'faint' | 'prompt' | 'answer' | 'acted' | 'good' | 'bad' | 'warning';

/** How to write on a terminal. */
export interface Ink {
  paint(tone: Tone, text: string): string;
  /** The cells of a bar: of the prompt, of the answer's cap, of what is free. */
  readonly cells: { readonly prompt: string; readonly answer: string; readonly free: string };
  readonly arrow: string;
}

const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  strong: '1',
  faint: '2',
  prompt: '34',
  answer: '36',
  acted: '36',
  good: '32',
  bad: '31',
  warning: '33',
};

export function inkFor({ colour, unicode }: Pick<Terminal, 'colour' | 'unicode'>): Ink {
  return {
    paint: (tone, text) =>
      colour && text !== '' && tone !== 'plain' ? `\x1b[${CODES[tone]}m${text}\x1b[0m` : text,
    cells: unicode ? { prompt: '█', answer: '▒', free: '·' } : { prompt: '#', answer: '=', free: '.' },
    arrow: unicode ? '→' : '->',
  };
}
