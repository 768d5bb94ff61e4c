import { execFile, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { exchanges, REAL, type Stage, setStage, told } from './support/stage.js';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());

interface Ended {
  readonly code: number | string;
  readonly out: string;
}

const SETTINGS = ['--disable', '--silent', '--noproxy', '*', '--max-time', '60'];

function curl(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('curl', [...SETTINGS, ...args], (error, out) => resolve({ code: error?.code ?? 0, out }));
  });
}

/** Ends curl as soon as that was read. Resolves with all that was. */
function curlUntil(piece: RegExp, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('curl', [...SETTINGS, '--no-buffer', ...args]);
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
      if (piece.test(out)) child.kill();
    });
    child.once('close', () => resolve(out));
  });
}

const ENDPOINTS = [
  ['/v1/chat/completions', 'max_tokens', 'messages', /"delta":\{"content"/],
  ['/v1/completions', 'max_tokens', 'prompt', /"text":/],
  ['/v1/responses', 'max_output_tokens', 'input', /^event: response\.output_text\.delta$/m],
  ['/v1/messages', 'max_tokens', 'messages', /^event: content_block_delta$/m],
] as const;

const asked = (member: string, words: string) => ({
  model: stage.model,
  [member]: member === 'messages' ? [{ role: 'user', content: words }] : words,
});

const post = (url: string, body: object): readonly string[] => [
  url,
  '--header',
  'content-type: application/json',
  '--data-raw',
  JSON.stringify(body),
];

describe.each(ENDPOINTS)('curl to %s', (path, cap, member, piece) => {
  test('gets the headers of the proxy, and an answer whose cap fits', async () => {
    const body = { ...asked(member, told('hi', { text: 'hello there' })), [cap]: 1_000_000 };
    const { code, out } = await curl('--include', ...post(stage.clamping.url + path, body));
    expect({ code, head: out.split('\r\n')[0] }).toEqual({ code: 0, head: 'HTTP/1.1 200 OK' });
    expect(out).toMatch(/^x-incontext-reason: cap_lowered\r$/m);
    if (REAL === undefined) expect(out).toContain('hello there');
  });

  test('streams, and what it leaves ends on the server', async () => {
    const before = stage.relay.aborted;
    stage.relay.leaveOpen(1);
    const slow = told('hi', { tokens: 400, chunk_delay_ms: 30 });
    const body = { ...asked(member, slow), [cap]: 400, stream: true };
    expect(await curlUntil(piece, ...post(stage.plain.url + path, body))).toMatch(piece);
    await vi.waitFor(() => expect(stage.relay.aborted).toBe(before + 1), 10_000);
  });
});

test.each([503, 429])('curl --retry comes back after a %i, when it is told to', async (status) => {
  stage.relay.fail(1, { status, headers: { 'retry-after': '1' } });
  const body = { ...asked('messages', told('hi', { text: 'at last' })), max_tokens: 8 };
  const request = post(`${stage.plain.url}/v1/chat/completions`, body);
  const { code } = await curl('--retry', '2', '--fail', '--output', '/dev/null', ...request);
  expect({ code, arrived: stage.relay.generations }).toEqual({ code: 0, arrived: 2 });
  expect(exchanges(stage.plain).at(-1)).toMatchObject({ status: 200, outcome: 'complete' });
});
