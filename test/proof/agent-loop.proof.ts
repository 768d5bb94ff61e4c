import { afterEach, describe, expect, it } from 'vitest';
import { clientOf } from './player.js';
import { sentences } from './prose.js';
import { Random } from './random.js';
import { type Reply, RUN_HEADER, type Upstreamed } from './relay.js';
import { type Stage, stage } from './stage.js';
import { brokenPairs } from './tool-pairs.js';

const TURNS = 100;
let on: Stage | undefined;
afterEach(() => on?.close());

/** What the shop has of an item. */
function stockOf(item: number): string {
  return `item ${item}: ${(item * 37) % 101} pieces in row ${(item * 7) % 13}`;
}

/** Asks for what the user names, then says what the tool found, as far as it is in view. */
function model({ step, request: { messages } }: Upstreamed): Reply {
  const last = messages.at(-1);
  if (last?.role === 'tool') {
    const prose = sentences(new Random(step), 3).join(' ');
    return { message: { role: 'assistant', content: `${last.content.split('.')[0]}. ${prose}` } };
  }
  const item = /item (\d+)/.exec(String(last?.content))?.[1] ?? '0';
  const call = { name: 'stock', arguments: JSON.stringify({ item: Number(item) }) };
  return {
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `call_${step % 5}`, type: 'function', function: call }],
    },
  };
}

describe('an agent loop of the official client', () => {
  it(`goes on for ${TURNS} turns with tools, each with the right answer`, async () => {
    on = await stage({ answer: model });
    const client = clientOf(on.proxy.url);
    const history: Parameters<typeof client.chat.completions.runTools>[0]['messages'] = [
      { role: 'system', content: 'Answer what is in stock. Look it up.' },
    ];
    const wrong: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      history.push({
        role: 'user',
        content: `${sentences(new Random(turn), 3).join(' ')} What about item ${turn}?`,
      });
      const runner = client.chat.completions.runTools(
        {
          model: 'simulated',
          messages: history,
          max_tokens: 512,
          tools: [{ type: 'function', function: stockTool(turn) }],
        },
        { headers: { [RUN_HEADER]: `loop/${turn}` } },
      );
      if (!(await runner.finalContent())?.startsWith(stockOf(turn))) wrong.push(turn);
      history.splice(0, history.length, ...runner.messages);
    }
    const seen = on.of('loop');
    expect(wrong).toEqual([]);
    expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(seen.filter(({ request }) => brokenPairs(request.messages) > 0)).toEqual([]);
    expect(seen.length).toBe(2 * TURNS);
    expect(on.summaries().length).toBeGreaterThan(0);
  });
});

function stockTool(turn: number) {
  return {
    name: 'stock',
    description: 'What is in stock of an item.',
    parameters: { type: 'object', properties: { item: { type: 'integer' } }, required: ['item'] },
    parse: (text: string) => JSON.parse(text) as { item: number },
    function: ({ item }: { item: number }) =>
      `${stockOf(item)}. ${sentences(new Random(1_000 + turn), 4).join(' ')}`,
  };
}
