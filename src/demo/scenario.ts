import { SYSTEM_PROMPT, sourceFile, testLog } from './material.js';
import type { Message } from './openai-client.js';
import type { Caps, Told } from './row.js';
import { BUDGET } from './stage.js';

/** One request of the story, and how it has to end. */
export interface Step {
  readonly asks: string;
  /** What is added to the conversation before the request; the answer is added after it. */
  readonly says: readonly Message[];
  readonly caps: Caps;
  /** Begins a new conversation. */
  readonly fresh?: boolean;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Goes through the proxy whose tokenizer does not answer. */
  readonly blind?: boolean;
  readonly expect: Expectation;
  readonly note?: (told: Told) => string;
}

export interface Expectation {
  readonly action: string;
  readonly reason: string;
  readonly source: string;
  /** HTTP status of the same request without the proxy. */
  readonly direct: number;
  /** Prompt and cap together have to be the whole window. */
  readonly fillsWindow?: boolean;
}

const EXACT = 'vllm-tokenize';
const TOOL_CALL_ID = 'call_read_session';
const CHUNK_DELAY_MS = 15;

const SYSTEM: Message = { role: 'system', content: SYSTEM_PROMPT };

/** A user's message with the simulator's script for its answer. */
function user(text: string, script: object): Message {
  return {
    role: 'user',
    content: `${text}\n!sim ${JSON.stringify({ ...script, chunk_delay_ms: CHUNK_DELAY_MS })}`,
  };
}

const READ_THEN_TELL = {
  rounds: [
    { tool_calls: [{ id: TOOL_CALL_ID, name: 'read_file', arguments: { path: 'src/session.ts' } }] },
    { text: 'Each check compares a field with the clock, also the fields that hold no time.' },
  ],
};

/** The story, in order. */
export const STEPS: readonly Step[] = [
  {
    asks: 'a short answer',
    says: [
      SYSTEM,
      user('Where are sessions checked?', { text: 'In src/session.ts, one function for each rule.' }),
    ],
    caps: { max_tokens: 512 },
    expect: { action: 'unchanged', reason: 'fits', source: EXACT, direct: 200 },
  },
  {
    asks: 'a million tokens',
    says: [user('Why do they fail?', { text: 'I have to read the file to tell.' })],
    caps: { max_tokens: 1_000_000 },
    expect: { action: 'clamped', reason: 'cap_lowered', source: EXACT, direct: 400, fillsWindow: true },
  },
  {
    asks: 'no cap at all',
    says: [user('How long will that take?', { text: 'One call of a tool.' })],
    caps: {},
    expect: { action: 'clamped', reason: 'cap_inserted', source: EXACT, direct: 200, fillsWindow: true },
  },
  {
    asks: 'a tool call, streamed',
    says: [user('Read it.', READ_THEN_TELL)],
    caps: { max_tokens: 4096 },
    stream: true,
    expect: { action: 'unchanged', reason: 'fits', source: EXACT, direct: 200 },
  },
  {
    asks: 'the same cap after the file',
    says: [{ role: 'tool', tool_call_id: TOOL_CALL_ID, content: sourceFile(45) }],
    caps: { max_tokens: 4096 },
    stream: true,
    expect: { action: 'clamped', reason: 'cap_lowered', source: EXACT, direct: 400, fillsWindow: true },
    note: (told) => `exactly what is left: ${told.promptTokens} + ${told.maxTokens} = ${told.window}`,
  },
  {
    asks: 'two caps that disagree',
    says: [user('Which are wrong?', { text: 'Owner, scope, device, region, digest and origin.' })],
    caps: { max_tokens: 1024, max_completion_tokens: 4096 },
    expect: { action: 'clamped', reason: 'cap_merged', source: EXACT, direct: 400 },
  },
  {
    asks: 'more than leaves room',
    says: [user(`Explain this log.\n${testLog(120)}`, { text: 'Every rule refuses.' })],
    caps: {},
    expect: {
      action: 'compressed',
      reason: 'compression_due',
      source: EXACT,
      direct: 200,
      fillsWindow: true,
    },
    note: (told) => `the window was full: ${told.originalPromptTokens} tokens became ${told.promptTokens}`,
  },
  {
    asks: 'to go on',
    says: [user('Mend the first of them.', { text: 'The first check reads the expiry now.' })],
    caps: { max_tokens: 2048 },
    expect: { action: 'compressed', reason: 'checkpoint_reused', source: EXACT, direct: 400 },
    note: () => 'what was compressed stays as it is, so that the server finds it in its cache',
  },
  {
    asks: 'a million, tokenizer gone',
    fresh: true,
    blind: true,
    says: [SYSTEM, user('Still there?', { text: 'Yes.' })],
    caps: { max_tokens: 1_000_000 },
    expect: {
      action: 'clamped',
      reason: 'cap_lowered',
      source: 'rough-fallback',
      direct: 400,
      fillsWindow: true,
    },
    note: () => `no exact count to be had: an estimate and a margin of ${BUDGET.margin} stand in`,
  },
  {
    asks: 'to be left alone',
    fresh: true,
    says: [SYSTEM, user('Thanks.', { text: 'You are welcome.' })],
    caps: { max_tokens: 512 },
    headers: { 'x-incontext-bypass': '1' },
    expect: { action: 'bypassed', reason: 'bypass', source: 'none', direct: 200 },
    note: () => 'x-incontext-bypass: 1 forwards a request untouched and uncounted',
  },
];
