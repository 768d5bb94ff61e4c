import type { OpenAI } from 'openai';

export const SYSTEM_PROMPT =
  'You are a coding agent. Read before you change anything, and say what you found in one sentence.';

export const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Returns the text of a file of the repository.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string', description: 'Path from the root of the repository.' } },
        required: ['path'],
      },
    },
  },
];

const FIELDS = ['expiry', 'owner', 'scope', 'device', 'region', 'digest', 'quota', 'origin'];

/** A source file, about 99 tokens for each of its functions. */
export function sourceFile(functions: number): string {
  const parts = Array.from({ length: functions }, (_, at) => {
    const field = FIELDS[at % FIELDS.length] ?? '';
    return [
      `/** Checks the ${field} of a session, rule ${at + 1}. */`,
      `export function check_${field}_${at + 1}(session: Session, now: number): Verdict {`,
      `  const value = session.${field};`,
      `  if (value === undefined) return { ok: false, rule: ${at + 1}, why: '${field} is missing' };`,
      `  return value > now ? { ok: true } : { ok: false, rule: ${at + 1}, why: '${field} is too old' };`,
      '}',
      '',
    ].join('\n');
  });
  return parts.join('\n');
}

/** A log, about 21 tokens a line. */
export function testLog(lines: number): string {
  return Array.from({ length: lines }, (_, at) => {
    const field = FIELDS[(at * 3) % FIELDS.length] ?? '';
    return `FAIL test/session.test.ts > check_${field}_${at + 1} > refuses a session without ${field} (${at % 9} ms)`;
  }).join('\n');
}
