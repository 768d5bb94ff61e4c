import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WireMessage } from './recording.js';
import { type Stage, stage } from './stage.js';
import { pastTalk, userTurn } from './talk.js';

let on: Stage | undefined;
afterEach(() => on?.close());

describe('equal requests at the same time', () => {
  it('eight of them: one summary call, and the same bytes upstream', async () => {
    on = await stage({ summaryDelayMs: 400 });
    const staged = on;
    // 26 turns and a question are some 6,200 tokens: over the window of 6,144, and within the context.
    const messages: WireMessage[] = [...pastTalk(1, 25), userTurn(1, 50)];
    const runs = Array.from({ length: 8 }, (_, at) => `same${at}`);
    const answers = await Promise.all(runs.map((run) => staged.send(run, messages)));
    const bodies = runs.map((run) => on?.of(run).map(({ body }) => body.toString('utf8')));
    expect(answers.every(({ content }) => content?.startsWith('Answer') === true)).toBe(true);
    expect(on.summaries()).toHaveLength(1);
    expect(new Set(bodies.flat()).size).toBe(1);
    expect(bodies.flat()).toHaveLength(8);
  });

  it('four conversations: none waits for the summary of another', async () => {
    on = await stage({ summaryDelayMs: 8_000 });
    const staged = on;
    const answers = [11, 12, 13, 14].map((topic) =>
      staged.send(`side${topic}`, [...pastTalk(topic, 25), userTurn(topic, 50)]),
    );
    await vi.waitFor(() => expect(staged.summaries()).toHaveLength(4), { timeout: 7_500, interval: 20 });
    expect(staged.summaries().filter(({ completionTokens }) => completionTokens > 0)).toEqual([]);
    await Promise.all(answers);
    expect(staged.summaries()).toHaveLength(4);
  });
});
