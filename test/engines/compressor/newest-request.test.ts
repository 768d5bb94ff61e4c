import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build } from './support/build.js';
import { filler } from './support/histories.js';
import { replay } from './support/replay.js';
import { amnesic, failing, randomFrom, repeating } from './support/summarisers.js';

const SUMMARISERS = Object.entries({ repeating, amnesic, failing });

/** How often a text stands in a view, in whatever message. */
function occurrences(view: readonly Message[], text: string): number {
  const written = view.map(({ content, tool_calls: calls }) => JSON.stringify([content, calls])).join('\n');
  return written.split(JSON.stringify(text).slice(1, -1)).length - 1;
}

/** Turns of an agent; each request is unlike all others, and most are worked on with tools. */
function errands(turns: number, seed: number): Message[] {
  const random = randomFrom(seed);
  const messages: Message[] = [{ role: 'system', content: 'You do what is asked, once.' }];
  for (let turn = 0; turn < turns; turn += 1) {
    const order = `order-${7000 + turn}`;
    messages.push({ role: 'user', content: `Send ${order} to the warehouse. ${filler(30, random)}` });
    for (let step = 0; step < turn % 6; step += 1) {
      const id = `call_${step % 2}`;
      const asked = { name: 'ship', arguments: JSON.stringify({ step, of: turn }) };
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: asked }],
      });
      messages.push({ role: 'tool', tool_call_id: id, content: filler(turn % 7 === 5 ? 700 : 90, random) });
    }
    messages.push({ role: 'assistant', content: filler(140, random) });
  }
  return messages;
}

test.each(SUMMARISERS)(
  'the last user message stands in the view exactly once, pass after pass, with a summariser that is %s (openclaw/openclaw#75972)',
  async (_, summariser) => {
    const seen = { ofTurns: 0, behindSummary: 0 };
    const onRequest = (view: readonly Message[], history: readonly Message[]) => {
      const last = history.findLast(({ role }) => role === 'user') as Message;
      expect(view.filter((message) => message.role === 'user').at(-1)).toEqual(last);
      expect(occurrences(view, String(last.content))).toBe(1);
      const at = view.findIndex(({ _engine_mark: mark }) => mark !== undefined);
      if (at >= 0) seen.behindSummary += 1;
      if (history.at(-1)?.role === 'tool' && at >= 0) seen.ofTurns += 1;
    };
    const built = build({ summariser, contextLength: 3072 });
    const options = { window: 2304, required: 256, target: 1228, overhead: 0, onRequest };
    const { passes, summaryCalls } = await replay(built, errands(40, 5), options);
    expect(passes).toBeGreaterThan(summaryCalls + 3);
    expect(seen.behindSummary).toBeGreaterThan(60);
    expect(seen.ofTurns).toBeGreaterThan(40);
  },
);
