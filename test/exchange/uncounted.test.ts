import { describe, expect, test } from 'vitest';
import { told } from '../support/proxy.js';
import { COMPLETIONS, MESSAGES, RESPONSES, start } from './support/endpoints.js';

describe('passes byte for byte, uncounted, where the prompt or the cap is not for the proxy to know:', () => {
  test.each([
    [
      'a previous response (bug case 72, BerriAI/litellm#33686)',
      RESPONSES,
      '"input":"q","previous_response_id":"r1","max_output_tokens":999999',
    ],
    ['a conversation of the server', RESPONSES, '"input":"q","conversation":"c1","max_output_tokens":999999'],
    ['a prompt template', RESPONSES, '"input":"q","prompt":{"id":"p"},"max_output_tokens":999999'],
    [
      'an input that the server truncates',
      RESPONSES,
      '"input":"q","truncation":"auto","max_output_tokens":999999',
    ],
    ['no input', RESPONSES, '"max_output_tokens":999999'],
    ['embeddings (bug case 71)', COMPLETIONS, '"prompt":"q","prompt_embeds":"AAAA","max_tokens":999999'],
    ['a suffix (bug case 71)', COMPLETIONS, '"prompt":"q","suffix":"s","max_tokens":999999'],
    ['echo without an answer (bug case 71)', COMPLETIONS, '"prompt":"q","echo":true,"max_tokens":0'],
    ['a prompt of mixed kinds', COMPLETIONS, '"prompt":["q",[1]],"max_tokens":999999'],
    ['no prompt', COMPLETIONS, '"prompt":[],"max_tokens":999999'],
    ['a completion without a cap, which is 16 on vLLM', COMPLETIONS, '"prompt":"q"'],
    ['a cap that a completion does not read', COMPLETIONS, '"prompt":"q","max_completion_tokens":999999'],
    ['a message without the cap that it has to have', MESSAGES, '"messages":[{"role":"user","content":"q"}]'],
    ['no messages', MESSAGES, '"messages":"q","max_tokens":999999'],
  ])('%s', async (_what, path, members) => {
    const { stub, post } = await start();
    const body = `{ "model":"m",${members} }`;
    const response = await post(path, body);
    expect(stub.only(path).body.toString()).toBe(body);
    expect(told(response)).toEqual({ action: 'unchanged', reason: 'ignored', source: 'none' });
    for (const counter of ['/tokenize', `${MESSAGES}/count_tokens`]) expect(stub.at(counter)).toEqual([]);
  });
});
