// First messages stand before the summary until their room is needed: then they must not read as what came last.
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build } from './support/build.js';
import { filler } from './support/histories.js';
import { run } from './support/invariants.js';
import { amnesic, failing, randomFrom, repeating } from './support/summarisers.js';

const ALPHA = 'Deploy to alpha.example.com on port 8080.';
const BETA = 'No: deploy to beta.example.com on port 9090, not to alpha.example.com.';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

function step(name: string, lines: number): Message[] {
  const call = {
    id: 'c',
    type: 'function',
    function: { name: 'bash', arguments: `{"command":"make ${name}"}` },
  };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: 'compiling a unit\n'.repeat(lines) },
  ];
}

function conversation(): Message[] {
  const random = randomFrom(11);
  const pages = Array.from({ length: 8 }, (_, page) => [
    user(`Read page ${page}, please. ${filler(20, random)}`),
    assistant(filler(350, random)),
  ]);
  return [
    user(ALPHA),
    assistant('I will.'),
    user(BETA),
    assistant('I will do that.'),
    ...pages.flat(),
    user('Now run the build.'),
  ];
}

function summaryOf(view: readonly Message[] | undefined): string {
  return String(view?.find(({ _engine_mark: mark }) => mark !== undefined)?.content ?? '');
}

/** The heading that a place in a summary stands under. */
function headingOf(summary: string, at: number): string {
  return summary.slice(summary.lastIndexOf('\n## ', at) + 1).split('\n', 1)[0] ?? '';
}

test('what was said first is never told as what came then', async () => {
  const headings = new Set<string>();
  for (const summariser of [amnesic, failing, repeating]) {
    for (const target of [700, 900, 1100, 1300]) {
      const built = build({ summariser, protectFirstN: 2 });
      const { result = [] } = await run(built, conversation(), 1600);
      expect(result[0]).toEqual(user(ALPHA));
      const longer = [...result, ...step('one', 30), ...step('two', 900)];
      const later = await run(built, structuredClone(longer), target);
      const summary = summaryOf(later.result);
      for (const { index } of summary.matchAll(/alpha\.example\.com on port 8080|- User: Deploy/g)) {
        headings.add(headingOf(summary, index));
      }
    }
  }
  expect(headings).toContain('## Before all of this, at the beginning of the conversation');
  expect(headings).not.toContain('## Then');
});
