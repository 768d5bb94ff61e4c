import { afterAll, describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/estimate/estimate.js';
import { CORPUS } from './corpus.js';
import { qwenPromptTokens, qwenTokens } from './qwen.js';

/** How far above the count an estimate may be. */
const LARGEST_RATIO = 2.2;

const ofContent = (content: string) => estimateTokens({ messages: [{ role: 'user', content }] });
const rows: Record<string, { counted: number; estimated: number; ratio: number }> = {};

function record(kind: string, counted: number, estimated: number): number {
  const ratio = Number((estimated / counted).toFixed(2));
  rows[kind] = { counted, estimated, ratio };
  return estimated / counted;
}

afterAll(() => {
  console.table(rows);
});

// tdarwin/pandoras_gate#26, Cinnamon/kotaemon#395, strands-agents/harness-sdk#2031, ls1intum/edutelligence#811
describe('the estimate against Qwen3’s own tokenizer', () => {
  it.each(Object.entries(CORPUS))('does not under-count %s, and is not wildly above it', (kind, text) => {
    const counted = qwenTokens(text);
    const ratio = record(kind, counted, ofContent(text) - ofContent(''));
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(LARGEST_RATIO);
  });

  it('holds for a text that quotes another language', () => {
    const text = [CORPUS['English prose'], CORPUS.Finnish, CORPUS.Dutch, CORPUS.base64].join('\n').repeat(4);
    const ratio = record('mixed', qwenTokens(text), ofContent(text) - ofContent(''));
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(1.6);
  });
});

const tool = (name: string, description: string) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Absolute path of the file to read' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines at most' },
        mode: { type: 'string', enum: ['text', 'binary'] },
      },
      required: ['path'],
    },
  },
});
const tools = [
  tool('read_file', 'Reads a file from the workspace.'),
  tool('list_dir', 'Lists a directory, one entry a line.'),
];
const call = {
  name: 'read_file',
  arguments: JSON.stringify({ path: '/srv/app/main.py', limit: 200, mode: 'text' }),
};
const conversation = [
  { role: 'system', content: CORPUS['English prose'] },
  { role: 'user', content: 'Please look at main.py and tell me what it does.' },
  { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', type: 'function', function: call }] },
  { role: 'tool', tool_call_id: 'call_1', content: CORPUS.Python },
  { role: 'assistant', content: 'It retries a coroutine.' },
  { role: 'user', content: CORPUS['English chat'] },
];

describe('the estimate against Qwen3’s own chat template', () => {
  it.each<[string, object[], object[]]>([
    ['a question', [{ role: 'user', content: 'hi' }], []],
    [
      'many short turns',
      Array.from({ length: 60 }, () => [
        { role: 'user', content: 'ok' },
        { role: 'assistant', content: 'yes' },
      ]).flat(),
      [],
    ],
    ['a conversation with a tool call', conversation, []],
    ['the same with tools', conversation, tools],
    [
      'forty tools',
      conversation.slice(0, 2),
      Array.from({ length: 40 }, (_, i) => tool(`tool_${i}`, 'Does one thing and does it well.')),
    ],
  ])('covers %s', (kind, messages, given) => {
    const counted = qwenPromptTokens(messages, given);
    const ratio = record(`request: ${kind}`, counted, estimateTokens({ messages, tools: given }));
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(counted < 50 ? 6 : LARGEST_RATIO);
  });
});
