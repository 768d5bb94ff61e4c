import { describe, expect, test } from 'vitest';
import { startProxy, told } from '../support/proxy.js';
import { simulator } from '../support/simulator.js';
import { COMPLETIONS, start } from './support/endpoints.js';

describe('a completion', () => {
  const counting = { count: ({ prompt }: Record<string, unknown>) => String(prompt).length } as const;

  test('of several prompts is held to the largest (bug case 71)', async () => {
    const { stub, post } = await start(counting);
    const prompt = JSON.stringify(['0123456789', 'x'.repeat(3000)]);
    const response = await post(COMPLETIONS, `{"model":"m","prompt":${prompt},"max_tokens":4000}`);
    expect(told(response)).toMatchObject({ 'prompt-tokens': '3000', 'max-tokens': '1096' });
    expect(stub.at('/tokenize')).toHaveLength(2);
  });

  test('of token ids asks no tokenizer (bug case 71)', async () => {
    const { stub, post } = await start();
    const response = await post(COMPLETIONS, '{"model":"m","prompt":[1,2,3],"max_tokens":999999}');
    expect(told(response)).toMatchObject({ 'prompt-tokens': '3', 'max-tokens': '4093' });
    expect(stub.at('/tokenize')).toHaveLength(0);
  });

  test('without a cap gets none, of the operator neither', async () => {
    const { post } = await start({}, { 'max-output-tokens': '128' });
    const capped = await post(COMPLETIONS, '{"model":"m","prompt":"q","max_tokens":500}');
    expect(told(capped)).toMatchObject({ reason: 'cap_lowered', 'max-tokens': '128' });
    const free = await post(COMPLETIONS, '{"model":"m","prompt":"q"}');
    expect(told(free)).toMatchObject({ reason: 'ignored' });
  });

  test('is counted as the simulated vLLM counts it, to the token', async () => {
    const vllm = await simulator();
    await start();
    const real = await startProxy({ upstream: vllm.url });
    try {
      const prompt = 'one two three four five '.repeat(700);
      const ask = (cap: number, more = {}) =>
        fetch(real.url + COMPLETIONS, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'simulated', prompt: ['short', prompt], max_tokens: cap, ...more }),
        });
      const answered = await ask(8192);
      expect(answered.status).toBe(200);
      const facts = told(answered);
      expect(facts).toMatchObject({ reason: 'cap_lowered', source: 'vllm-tokenize' });
      expect(Number(facts['prompt-tokens']) + Number(facts['max-tokens'])).toBe(8192);
      expect(told(await ask(Number(facts['max-tokens'])))).toMatchObject({ reason: 'fits' });
      const streamed = await ask(8192, { stream: true });
      expect(await streamed.text()).toContain('data: [DONE]');
    } finally {
      await real.close();
      await vllm.close();
    }
  });
});
