import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { postChat, startProxy, told } from '../support/proxy.js';
import { type ChatAnswer, realTest, SERVER } from './support/real-server.js';
import { recorder } from './support/recorder.js';

interface Message {
  readonly role: string;
  readonly content: string;
}

const WINDOW = 640;
/** Small calls: the processor of a test reads some fifty tokens in a second. */
const FILE = `
compression:
  context_timeout_seconds: 110
engines:
  compressor:
    head_share: 0.3
    input_max_tokens: 600
    summary_max_tokens: 64
    summary_timeout_seconds: 50
`;

const FACT: Message[] = [
  { role: 'system', content: 'You answer in few words.' },
  { role: 'user', content: 'The name of my boat is Albatross. Remember it.' },
  { role: 'assistant', content: 'The name of your boat is Albatross.' },
];
const TALK: Message[] = [
  [
    'rigging',
    'The old shrouds are frayed near the deck, and two of the turnbuckles are bent from the storm.',
  ],
  [
    'engine',
    'The diesel starts only after a minute of heating, smokes white, and loses cooling water slowly.',
  ],
  [
    'sails',
    'The main is stretched along its leech, while the jib has a tear that somebody taped in a hurry.',
  ],
  [
    'paint',
    'Below the waterline it blisters in patches as large as a hand, mostly at the port side of the keel.',
  ],
  ['mooring', 'The lines chafe at the bow, so that I change them every spring and lead them through a hose.'],
].flatMap(([part, state]) => [
  {
    role: 'user',
    content: `About the ${part}: ${state} What would you do first about the ${part}, and what can wait?`,
  },
  {
    role: 'assistant',
    content: `First look at the ${part} in daylight and write down what you find. ${state} Then order the parts that are worn, and leave what is only ugly for the winter, when the yard has time for the ${part}.`,
  },
]);

realTest(
  'the compressor has the model summarise, keeps a fact, and goes on from the same prefix',
  async () => {
    const upstream = await recorder(SERVER);
    const data = mkdtempSync(join(tmpdir(), 'incontext-llamacpp-'));
    const proxy = await startProxy(
      {
        ...{
          upstream: upstream.url,
          backend: 'llamacpp',
          engine: 'compressor',
          data,
          config: 'incontext.yaml',
        },
        ...{ 'compression-window-tokens': String(WINDOW), 'min-output-tokens': '128' },
      },
      { file: FILE },
    );
    onTestFinished(async () => {
      await proxy.close();
      rmSync(data, { recursive: true });
    });
    await proxy.ready();
    const ask = async (messages: readonly Message[]) => {
      const body = JSON.stringify({ messages, temperature: 0, max_tokens: 24 });
      const response = await postChat(proxy.url, body);
      return { told: told(response), answer: (await response.json()) as ChatAnswer };
    };

    const question = { role: 'user', content: 'What is the name of my boat?' };
    const history = [...FACT, ...TALK, question];
    const first = await ask(history);
    const [summary, compressed] = upstream.chats;
    expect(first.told).toMatchObject({ action: 'compressed', reason: 'compression_due', source: 'llamacpp' });
    expect(Number(first.told['original-prompt-tokens'])).toBeGreaterThan(WINDOW - 24);
    expect(first.answer.usage.prompt_tokens).toBe(Number(first.told['prompt-tokens']));
    expect(first.answer.usage.prompt_tokens).toBeLessThanOrEqual(WINDOW - 24);
    expect(first.answer.choices[0]?.message.content).toContain('Albatross');

    const { choices, usage } = JSON.parse(summary?.answer ?? '') as ChatAnswer;
    const text = choices[0]?.message.content?.trim() ?? '';
    expect(text).not.toBe('');
    expect(usage.prompt_tokens).toBeLessThanOrEqual(600);
    expect(compressed?.sent).toContain(JSON.stringify(text.slice(0, 20)).slice(1, -1));

    const reply = { role: 'assistant', content: first.answer.choices[0]?.message.content ?? '' };
    const next = await ask([...history, reply, { role: 'user', content: 'And where does it lie?' }]);
    expect(next.told).toMatchObject({ action: 'compressed', reason: 'checkpoint_reused' });
    expect(upstream.chats).toHaveLength(3);
    expect(upstream.chats[2]?.sent.startsWith(messagesOf(compressed?.sent))).toBe(true);
    expect(next.answer.usage.prompt_tokens).toBe(Number(next.told['prompt-tokens']));
    // Its cache shows that the server, too, read the same beginning.
    const cached = next.answer.usage.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThanOrEqual(first.answer.usage.prompt_tokens - 1);
  },
);

/** Up to the end of its last message. */
function messagesOf(body = ''): string {
  return body.slice(0, body.indexOf('],"temperature"'));
}
