import { expect, test } from 'vitest';
import { demo } from '../../src/commands/demo.js';

function recordingStreams() {
  const out: string[] = [];
  const err: string[] = [];
  return {
    out,
    err,
    streams: { out: (text: string) => out.push(text), err: (text: string) => err.push(text) },
  };
}

test('shows unchanged, clamped, compressed and rough-fallback decisions, as one JSON document', async () => {
  const { out, err, streams } = recordingStreams();
  expect(await demo({ json: true, keep: false }, streams)).toBe(0);
  expect(out).toHaveLength(1);
  expect(err).toEqual(['loading the tokenizer...']);
  const report = JSON.parse(out[0] ?? '') as { rows: Record<string, unknown>[] };
  expect(report).toMatchObject({ ok: true, failures: 0, direct_failures: 5, confirmed_counts: 8 });
  const { rows } = report;
  expect(rows.map(({ action, reason, source, status }) => [action, reason, source, status])).toEqual([
    ['unchanged', 'fits', 'vllm-tokenize', 200],
    ['clamped', 'cap_lowered', 'vllm-tokenize', 200],
    ['clamped', 'cap_inserted', 'vllm-tokenize', 200],
    ['unchanged', 'fits', 'vllm-tokenize', 200],
    ['clamped', 'cap_lowered', 'vllm-tokenize', 200],
    ['clamped', 'cap_merged', 'vllm-tokenize', 200],
    ['compressed', 'compression_due', 'vllm-tokenize', 200],
    ['compressed', 'checkpoint_reused', 'vllm-tokenize', 200],
    ['clamped', 'cap_lowered', 'rough-fallback', 200],
    ['bypassed', 'bypass', 'none', 200],
  ]);
  expect(rows[1]).toMatchObject({ cap: { before: { max_tokens: 1_000_000 } }, direct_status: 400 });
  expect(rows[3]).toMatchObject({ finish_reason: 'tool_calls' });
});

test('is a plain ASCII table of 80 columns where the output is no terminal', async () => {
  const { out, streams } = recordingStreams();
  expect(await demo({ json: false, keep: false }, streams)).toBe(0);
  const lines = out.join('\n').split('\n');
  expect(lines.filter((line) => line.length > 80 || !/^[ -~]*$/.test(line))).toEqual([]);
  expect(lines).toContain('10 requests: 5 clamped, 2 unchanged, 2 compressed, 1 bypassed, 0 failures.');
});

test('keeps serving until a signal, with lines to paste that do what they say', async () => {
  const { out, streams } = recordingStreams();
  const before = process.listeners('SIGTERM');
  const running = demo({ json: false, keep: true }, streams);
  await expect.poll(() => out.at(-1), { timeout: 20_000 }).toContain('Still serving');
  const text = out.at(-1) ?? '';
  const pasted = [...text.matchAll(/curl -si (\S+)[\s\S]*?-d '([^']+)'/g)];
  const answers = await Promise.all(
    pasted.map(([, url = '', body = '']) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  expect(answers[0]?.headers.get('x-incontext-action')).toBe('clamped');
  expect(await answers[0]?.json()).toMatchObject({ usage: { total_tokens: 6144 } });
  // A signal to the test process itself would end it.
  const stop = process.listeners('SIGTERM').find((listener) => !before.includes(listener));
  stop?.('SIGTERM');
  expect(await running).toBe(0);
});
