import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TestProxy, told } from '../../support/proxy.js';
import { type Answer, ask, CHAT, promptOf } from '../support/chat.js';
import { describeServers, postTo } from '../support/servers.js';

const OF_OLD =
  "However, the model's context length is only 4096 tokens, resulting in a maximum input length of";
const TOO_LONG =
  "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)";
const NOTHING_LEFT = 'max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)';

describeServers('plain', (server) => {
  const is032 = server.version === '0.32';
  const refusal = async (tokens: number, cap: number | null) =>
    (await ask(server, { messages: promptOf(tokens), max_tokens: cap })).error;

  test('a prompt and a cap that just fit are answered', async () => {
    const { usage } = await ask(server, { messages: promptOf(4086), max_tokens: 10, ignore_eos: true });
    expect(usage).toMatchObject({ prompt_tokens: 4086, completion_tokens: 10, total_tokens: 4096 });
  });

  test.each(
    !is032
      ? []
      : [
          [4086, 11, 10],
          [4000, 200, 96],
          [4066, 4096, 30],
        ],
  )('the cap is lowered to what is left: prompt %i, cap %i', async (prompt, cap, written) => {
    const body = { messages: promptOf(prompt), max_tokens: cap, ignore_eos: true };
    const { usage, choices } = await ask(server, body);
    expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: written });
    expect(choices[0]?.finish_reason).toBe('length');
  });

  test.each(
    is032
      ? []
      : [
          [4086, 11, `You passed 4086 input tokens and requested 11 output tokens. ${OF_OLD} 4085 tokens.`],
          [4000, 200, `You passed 3897 input tokens and requested 200 output tokens. ${OF_OLD} 3896 tokens.`],
          [4096, 1, `You passed 4096 input tokens and requested 1 output tokens. ${OF_OLD} 4095 tokens.`],
          [4100, null, `You passed 4097 input tokens and requested 0 output tokens. ${OF_OLD} 4096 tokens.`],
        ],
  )('what does not fit is refused: prompt %i, cap %s', async (prompt, cap, message) => {
    const error = await refusal(prompt, cap);
    expect(error).toMatchObject({ type: 'BadRequestError', param: 'input_tokens' });
    expect(error?.message.startsWith(message)).toBe(true);
  });

  if (!is032)
    test('a cap of the whole context leaves no room for a character', async () => {
      expect((await refusal(20, 4096))?.message).toMatch(
        /^You passed \d+ input characters .* maximum input length of 0 tokens/,
      );
    });

  test.each(is032 ? [null, 5] : [null])('a prompt that fills the context is refused: cap %s', async (cap) => {
    expect(await refusal(4096, cap)).toMatchObject({ message: NOTHING_LEFT, param: 'max_tokens' });
  });

  if (is032)
    test('one token more than the limit is named, however long the prompt is', async () => {
      expect(await refusal(5000, null)).toMatchObject({ message: TOO_LONG, param: 'input_tokens' });
    });

  test('characters are counted where there are far too many to tokenise', async () => {
    const { error } = await ask(server, { messages: [{ role: 'user', content: 'x'.repeat(600_000) }] });
    expect(error?.param).toBe('input_text');
    expect(error?.message).toMatch(/6000\d\d (?:input )?characters/);
  });

  test('a refusal of a stream is plain JSON', async () => {
    const answer = await postTo(server, CHAT, { messages: promptOf(5000), stream: true });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json']);
  });

  test('a count is true even above the limit', async () => {
    const answer = await postTo(server, '/tokenize', { messages: promptOf(6009) });
    expect(await answer.json()).toMatchObject({ count: 6009, max_model_len: 4096 });
  });

  describe('through the proxy', () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy({ upstream: server.url });
      await proxy.ready();
    });
    afterAll(() => proxy.close());
    const send = (tokens: number, cap: number) =>
      postTo({ ...server, url: proxy.url }, CHAT, {
        messages: promptOf(tokens),
        max_tokens: cap,
        ignore_eos: true,
      });

    test('a cap that is too large for what is left is lowered, and answered', async () => {
      const answer = await send(3836, 1000);
      expect(told(answer)).toMatchObject({
        reason: 'cap_lowered',
        'prompt-tokens': '3836',
        'max-tokens': '260',
      });
      expect(((await answer.json()) as Answer).usage.completion_tokens).toBe(260);
    });

    test('what is below the reserve goes on unchanged, and the server has its say', async () => {
      const answer = await send(4000, 200);
      expect(told(answer)).toMatchObject({ action: 'unchanged', 'prompt-tokens': '4000' });
      expect(answer.status).toBe(is032 ? 200 : 400);
      if (!is032) expect(await answer.text()).toContain('You passed 3897 input tokens');
    });
  });
});
