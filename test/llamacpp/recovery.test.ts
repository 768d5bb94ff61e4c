import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { postChat, startProxy, told } from '../support/proxy.js';
import { type ChatAnswer, realTest, SERVER, SLOT_CONTEXT } from './support/real-server.js';
import { recorder } from './support/recorder.js';

/** This model has hardly a token for this script: it takes several times what an estimate says. */
const DENSE = 'เรือลำนี้จอดอยู่ที่ท่าเรือเก่าในเมืองทางใต้ตั้งแต่เดือนมกราคม ';

realTest(
  'a refused overflow that the estimate did not see is counted anew, compressed, and answered',
  async () => {
    const upstream = await recorder(SERVER, 1);
    const data = mkdtempSync(join(tmpdir(), 'incontext-llamacpp-'));
    const proxy = await startProxy(
      {
        ...{ upstream: upstream.url, backend: 'llamacpp', engine: 'compressor', data },
        ...{ config: 'incontext.yaml', 'min-output-tokens': '128' },
      },
      { file: 'engines: { compressor: { summary_max_tokens: 64 } }' },
    );
    onTestFinished(async () => {
      await proxy.close();
      rmSync(data, { recursive: true });
    });
    await proxy.ready();
    const turns = [1, 2, 3, 4].flatMap((turn) => [
      { role: 'user', content: `${turn}. ${DENSE.repeat(5)}` },
      { role: 'assistant', content: DENSE },
    ]);
    const messages = [...turns, { role: 'user', content: 'Thank you. Say goodbye.' }];
    const response = await postChat(proxy.url, JSON.stringify({ messages, temperature: 0, max_tokens: 8 }));
    const answer = (await response.json()) as ChatAnswer;
    expect(response.status).toBe(200);
    expect(told(response)).toMatchObject({ reason: 'overflow_recovered', source: 'llamacpp' });
    expect(upstream.chats[0]?.answer).toContain('exceed_context_size_error');
    expect(answer.usage.prompt_tokens).toBe(Number(told(response)['prompt-tokens']));
    expect(answer.usage.prompt_tokens).toBeLessThan(SLOT_CONTEXT);
  },
);
