import { describe, expect, test } from 'vitest';
import { describeBoth } from '../support/behind-proxy.js';
import { ask, stream } from '../support/chat.js';
import { describeServers } from '../support/servers.js';

const HELLO = { messages: [{ role: 'user', content: 'hello there' }], max_tokens: 5, ignore_eos: true };

describeServers('plain', (server) => {
  describeBoth(server, (asked) => {
    test('events of JSON, a blank line after each, and [DONE] at the end', async () => {
      const { contentType, text, events } = await stream(asked, HELLO);
      expect(contentType).toBe('text/event-stream; charset=utf-8');
      expect(text).toMatch(/^(?:data: \{[^\n]*\}\n\n)+data: \[DONE\]\n\n$/);
      expect(events.at(-1)).toBe('[DONE]');
    });

    test('first the role, at the end the reason, under one id', async () => {
      const { chunks } = await stream(asked, HELLO);
      expect(chunks[0]?.choices[0]).toMatchObject({ delta: { role: 'assistant', content: '' } });
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    });

    test('usage comes in a chunk without choices, where it is asked for', async () => {
      const { chunks } = await stream(asked, { ...HELLO, stream_options: { include_usage: true } });
      expect(chunks.at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      });
      const { chunks: without } = await stream(asked, HELLO);
      expect(without.every(({ usage }) => usage == null)).toBe(true);
    });

    test('options that say nothing are taken, and 0.16 reads them as a wish for the usage', async () => {
      const { chunks } = await stream(asked, { ...HELLO, stream_options: {} });
      expect(chunks.at(-1)?.usage?.prompt_tokens).toBe(asked.version === '0.16' ? 10 : undefined);
      const { error } = await ask(asked, { ...HELLO, stream_options: {} });
      expect(error).toBeUndefined();
    });

    test('usage comes with every chunk, where that is asked for', async () => {
      const { chunks } = await stream(asked, {
        ...HELLO,
        stream_options: { include_usage: true, continuous_usage_stats: true },
      });
      expect(chunks.every(({ usage }) => usage?.prompt_tokens === 10)).toBe(true);
    });

    test('several choices come side by side, each with its reason', async () => {
      const { chunks } = await stream(asked, { ...HELLO, n: 2, temperature: 1 });
      const ended = chunks
        .flatMap(({ choices }) => choices)
        .filter((choice) => choice.finish_reason !== null);
      expect(ended.map(({ index }) => index).toSorted()).toEqual([0, 1]);
    });

    describe('of a completion', () => {
      const body = { prompt: 'hello there', max_tokens: 5, ignore_eos: true };

      test('ends with its usage', async () => {
        const { chunks, events } = await stream(
          asked,
          { ...body, stream_options: { include_usage: true } },
          '/v1/completions',
        );
        expect(chunks[0]?.choices[0]?.text).toBeTypeOf('string');
        expect(chunks.at(-1)).toMatchObject({
          choices: [],
          usage: { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 },
        });
        expect(events.at(-1)).toBe('[DONE]');
      });
    });
  });
});
