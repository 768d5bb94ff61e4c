/** Where `scripts/test-clients.mjs` installed the clients that are written in Python. */
export const SITE = process.env.INCONTEXT_TEST_CLIENTS ?? '';

/** For a `python3` that finds them. */
export function pythonEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    PYTHONPATH: SITE,
    NO_PROXY: '*',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}
