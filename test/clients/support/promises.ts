import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestProxy } from '../../support/proxy.js';
import type { Ask, Client, Turn } from './client.js';
import { exchanges, REAL, type Stage, setStage, told } from './stage.js';

const onlySimulated = REAL === undefined;
/** More than any model has. */
const BOUNDLESS = 1_000_000;

/** What holds for every client; it is given by how it asks. */
export function holdsForClient(client: Client): void {
  describe(`${client.name} through the proxy`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await setStage();
    });
    afterAll(() => stage.close());

    const ask = (content: string, cap: number, more: Partial<Ask> = {}): Ask => ({
      model: stage.model,
      turns: [{ role: 'user', content }],
      cap,
      ...more,
    });

    test.each(['ask', 'stream'] as const)(
      '%s: a cap that does not fit is lowered, and the answer comes',
      async (way) => {
        const text = await client
          .at(stage.clamping.url, 0)
          [way](ask(told('hi', { text: 'hello there' }), BOUNDLESS));
        if (onlySimulated) expect(text).toBe('hello there');
        expect(text).not.toBe('');
        expectLast(stage.clamping, {
          action: 'clamped',
          reason: 'cap_lowered',
          status: 200,
          outcome: 'complete',
        });
      },
    );

    test.each([false, true])('calls a tool and goes on from its result; in a stream: %s', async (streams) => {
      const rounds = [{ tool_calls: [{ name: 'look', arguments: { at: 'north' } }] }, { text: 'A wall.' }];
      const seen: unknown[] = [];
      const look = (at: unknown) => {
        seen.push(at);
        return 'a wall';
      };
      const asked = ask(told('what is north?', { rounds }), onlySimulated ? BOUNDLESS : 8);
      const text = await client.at(stage.clamping.url, 0).useTool(asked, look, streams);
      if (onlySimulated) expect({ text, seen }).toEqual({ text: 'A wall.', seen: ['north'] });
      expectLast(stage.clamping, { status: 200, outcome: 'complete', source: expect.any(String) });
    });

    test('an abort in the middle of a stream ends the work of the server', async () => {
      const before = stage.relay.aborted;
      stage.relay.leaveOpen(1);
      const leaving = new AbortController();
      const onText = () => leaving.abort();
      const asked = ask(told('hi', { tokens: 400, chunk_delay_ms: 20 }), 400, {
        signal: leaving.signal,
        onText,
      });
      await client
        .at(stage.plain.url, 0)
        .stream(asked)
        .catch(() => undefined);
      expect(leaving.signal.aborted).toBe(true);
      await vi.waitFor(() => expect(stage.relay.aborted).toBe(before + 1), 10_000);
      await vi.waitFor(() => expectLast(stage.plain, { outcome: 'client_abort' }), 10_000);
    });

    test.each([
      [{ status: 503, headers: { 'retry-after': '0' } }, 1, 2],
      [{ status: 429, headers: { 'retry-after': '0' } }, 1, 2],
      // The proxy itself tries a second connection where the first one was idle.
      [{ status: 'reset' }, 2, 3],
    ] as const)('tries again after %j', async (failure, times, arrived) => {
      stage.relay.fail(times, failure);
      const text = await client.at(stage.plain.url, 2).ask(ask(told('hi', { text: 'at last' }), 8));
      if (onlySimulated) expect(text).toBe('at last');
      expect(stage.relay.generations).toBeGreaterThanOrEqual(arrived - 1);
      expect(stage.relay.generations).toBeLessThanOrEqual(arrived);
      expectLast(stage.plain, { status: 200, outcome: 'complete' });
    });

    test.each([503, 429])('is told when to come back after a %i', async (status) => {
      stage.relay.fail(1, { status, headers: { 'retry-after': '7' } });
      const asking = client.at(stage.plain.url, 0);
      const error: unknown = await asking.ask(ask('hi', 8)).then(
        () => expect.unreachable(),
        (reason: unknown) => reason,
      );
      expect(asking.failureOf(error)).toEqual({ status, retryAfter: '7' });
      expect(stage.relay.generations).toBe(1);
    });

    test('a long conversation is compressed, and goes on', async () => {
      const turns: Turn[] = [
        ...longConversation(),
        { role: 'user', content: told('and now?', { text: 'All well.' }) },
      ];
      const streamed = await client.at(stage.compressing.url, 0).stream(ask('', 8, { turns }));
      const text = await client.at(stage.compressing.url, 0).ask(ask('', 8, { turns }));
      if (onlySimulated) expect([streamed, text]).toEqual(['All well.', 'All well.']);
      const done = exchanges(stage.compressing).slice(-2);
      const actions = done.map(({ action, outcome, status }) => ({ action, outcome, status }));
      const expected = { action: 'compressed', outcome: 'complete', status: 200 };
      expect(actions).toEqual([expected, expected]);
    });
  });
}

function expectLast(proxy: TestProxy, facts: Record<string, unknown>): void {
  expect(exchanges(proxy).at(-1)).toMatchObject(facts);
}

/** About fifteen hundred tokens. */
function longConversation(): Turn[] {
  return Array.from({ length: 12 }, (_, at): Turn[] => [
    {
      role: 'user',
      content: `Step ${at}: what did the survey of site ${at} find? ${'Please be precise. '.repeat(10)}`,
    },
    {
      role: 'assistant',
      content: `Site ${at} has ${at + 3} wells. ${'The ground there is firm and dry. '.repeat(8)}`,
    },
  ]).flat();
}
