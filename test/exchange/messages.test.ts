import { describe, expect, test } from 'vitest';
import { told } from '../support/proxy.js';
import { json, type StubRoute } from '../support/upstream-stub.js';
import { MESSAGES, start } from './support/endpoints.js';

describe('a message in the form of Anthropic', () => {
  const body = (cap: number) =>
    `{"model":"m","max_tokens":${cap},"messages":[{"role":"user","content":"q"}]}`;

  test('is counted under the credential that it has upstream (bug case 74)', async () => {
    const { stub, post } = await start();
    const headers = { authorization: 'Bearer b', 'x-api-key': 'sk-a', 'anthropic-version': '2023-06-01' };
    await post(MESSAGES, body(4096), headers);
    for (const path of [MESSAGES, `${MESSAGES}/count_tokens`]) {
      expect(stub.only(path).headers).toMatchObject({ authorization: 'Bearer b', 'x-api-key': 'sk-a' });
    }
  });

  test.each([404, 400])('is estimated where the server answers its counting with %i', async (status) => {
    const refuse: StubRoute = (_request, response) => json(response, status, { detail: 'Not Found' });
    const { post } = await start({ routes: { [`POST ${MESSAGES}/count_tokens`]: refuse } });
    expect(told(await post(MESSAGES, body(4096)))).toMatchObject({ source: 'rough-fallback' });
  });

  test('keeps members that are private in a chat', async () => {
    const { stub, post } = await start();
    const own = '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q","message_uid":"u"}]}';
    await post(MESSAGES, own);
    expect(stub.only(MESSAGES).body.toString()).toBe(own);
  });

  test('is no place for commands to the proxy', async () => {
    const { stub, post } = await start(
      {},
      { engine: 'compressor', config: 'incontext.yaml' },
      { file: 'sessions:\n  commands: true\n' },
    );
    const command = body(5).replace('"q"', '"/compress"');
    expect(await (await post(MESSAGES, command)).json()).toEqual({ answered: true });
    expect(stub.only(MESSAGES).body.toString()).toBe(command);
  });

  // vLLM 0.32 and Anthropic refuse a cap that leaves nothing behind the thoughts: 1096 tokens are left here.
  test.each([
    ['"thinking":{"type":"enabled","budget_tokens":1095}', 1096, 'cap_lowered'],
    ['"thinking":{"type":"enabled","budget_tokens":1096}', 4096, 'requires_compression'],
    ['"thinking":{"type":"disabled","budget_tokens":1096}', 1096, 'cap_lowered'],
    ['"thinking":{"type":"enabled","budget_tokens":"x"}', 1096, 'cap_lowered'],
    ['"thinking":null', 1096, 'cap_lowered'],
  ])('has no cap lowered to its budget for thinking: %s', async (thinking, out, reason) => {
    const { stub, post } = await start();
    const asked = (cap: number) => body(cap).replace('{', `{${thinking},`);
    expect(told(await post(MESSAGES, asked(4096)))).toMatchObject({ reason });
    expect(stub.only(MESSAGES).body.toString()).toBe(asked(out));
  });

  test('counted by the client itself passes (bug case 74)', async () => {
    const { post } = await start();
    const response = await post(`${MESSAGES}/count_tokens`, body(999_999));
    expect(await response.json()).toEqual({ input_tokens: 3000 });
    expect(told(response)).toEqual({});
  });
});
