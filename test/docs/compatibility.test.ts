import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage, tableRows } from './support/markdown.js';

const FIXTURES = join(import.meta.dirname, '../fixtures/vllm');
const ROWS: readonly (readonly [
  server: string,
  endpoint: string,
  file: string,
  setups: readonly string[],
])[] = [
  ['vLLM 0.32.0', '/v1/chat/completions', 'chat-outcomes', ['0.32 plain']],
  ['vLLM 0.16.0', '/v1/chat/completions', 'chat-outcomes', ['0.16 plain']],
  ['vLLM 0.32.0 with flags', '/v1/chat/completions', 'chat-outcomes', ['0.32 flags']],
  ['vLLM 0.16.0 with flags', '/v1/chat/completions', 'chat-outcomes', ['0.16 flags']],
  ['vLLM 0.32.0 and 0.16.0', '/v1/completions', 'completion-outcomes', ['0.32 plain', '0.16 plain']],
  ['vLLM 0.32.0', '/v1/responses', 'response-outcomes', ['0.32 plain']],
  ['vLLM 0.32.0', '/v1/messages', 'message-outcomes', ['0.32 plain']],
];

test('every row of servers that were recorded has the numbers of the recording', () => {
  const rows = tableRows(readPage('docs/compatibility.md'), 'Servers');
  for (const [server, endpoint, file, setups] of ROWS) {
    const row = rows.find(([name, path]) => name === server && path === endpoint);
    const [, , shapes, exact, estimated, refused] = (row ?? []).map((cell) => Number(cell));
    for (const setup of setups) {
      const { answered, denied } = outcomes(file, setup);
      expect([server, endpoint, shapes, refused]).toEqual([server, endpoint, answered + denied, denied]);
      expect([server, endpoint, (exact ?? 0) + (estimated ?? 0)]).toEqual([server, endpoint, answered]);
    }
  }
});

/** Of the shapes of a recording: those with a usage, and those that the server refused. */
function outcomes(file: string, setup: string): { readonly answered: number; readonly denied: number } {
  const recorded: Record<string, Record<string, unknown>> = JSON.parse(
    readFileSync(join(FIXTURES, `${file}.json`), 'utf8'),
  );
  const seen = Object.values(recorded).flatMap((outcome) => outcome[`${setup} usage`] ?? []);
  const answered = seen.filter((usage) => typeof usage === 'number').length;
  return { answered, denied: seen.length - answered };
}
