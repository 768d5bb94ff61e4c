/** What a stream can show. */
export interface Terminal {
  readonly columns: number;
  /** Lines can be replaced. */
  readonly live: boolean;
  readonly colour: boolean;
  readonly unicode: boolean;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const PLAIN_COLUMNS = 80;

/** What can be shown on a terminal; anything else gets plain ASCII of 80 columns. */
export function terminalOf(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Terminal {
  if (output.isTTY !== true || env.TERM === 'dumb') {
    return { columns: PLAIN_COLUMNS, live: false, colour: false, unicode: false };
  }
  return {
    columns: output.columns ?? PLAIN_COLUMNS,
    live: true,
    colour: (env.NO_COLOR ?? '') === '',
    unicode: showsUnicode(env, platform),
  };
}

/** The first of these that is set decides, as in POSIX. */
function showsUnicode(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '');
  if (locale === undefined) return platform === 'darwin' || platform === 'win32';
  return /utf-?8/i.test(locale);
}
