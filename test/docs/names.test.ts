import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { environmentName, flagName, SETTING_NAMES, settingOf } from '../../src/config/table.js';
import { planHeaders } from '../../src/exchange/plan.js';
import { SIMULATE_HELP } from '../../src/simulator/arguments.js';
import { pagePaths, readPage, tableRows } from './support/markdown.js';

/** Flags of programs that the pages use beside the proxy. */
const FLAGS_OF_OTHERS = [
  ...['json', 'max-time', 'output', 'next', 'cacert', 'retry'].map((name) => `curl ${name}`),
  ...['profile', 'tag', 'from-literal', 'target', 'publish', 'stop-timeout'].map((name) => `docker ${name}`),
  'npm global',
  ...['quick', 'rounds', 'only', 'peers'].map((name) => `bench ${name}`),
  ...['vllm', 'setup'].map((name) => `test:vllm ${name}`),
  'vllm renderer-num-workers',
  'node initial-heap-size',
  ...['resume', 'continue'].map((name) => `hermes ${name}`),
].map((each) => `--${each.split(' ')[1]}`);
const REQUEST_HEADERS = ['x-incontext-bypass', 'x-incontext-engine', 'x-incontext-conversation'];

const ANSWER_HEADERS = planHeaders({
  action: 'clamped',
  reason: 'cap_lowered',
  source: 'x',
  conversation: 'x',
  facts: { promptTokens: 1, originalPromptTokens: 1, window: 1, contextLength: 1, maxTokens: 1 },
}).filter((_, index) => index % 2 === 0);

const flags = new Set([
  ...SETTING_NAMES.filter((name) => settingOf(name).only !== 'file').map((name) => `--${flagName(name)}`),
  ...Object.values(COMMANDS).flatMap((command) =>
    [...command.switches, ...('valued' in command ? command.valued : [])].map(({ name }) => `--${name}`),
  ),
  ...(SIMULATE_HELP.match(/--[a-z-]+/g) ?? []),
  ...FLAGS_OF_OTHERS,
  '--help',
  '--no-',
]);

describe.each(pagePaths())('%s', (path) => {
  const text = readPage(path).lines.join('\n');

  test('names no flag that does not exist', () => {
    const named = [...text.matchAll(/(?<=^|[\s`(])--[a-z][a-z-]*/gm)].map(([flag]) => flag);
    expect(named.filter((flag) => !flags.has(flag))).toEqual([]);
  });

  test('names no variable of the environment that does not exist', () => {
    const named = text.match(/INCONTEXT_[A-Z_]+/g) ?? [];
    const existing = SETTING_NAMES.map(environmentName);
    expect(named.filter((name) => name !== 'INCONTEXT_' && !existing.includes(name))).toEqual([]);
  });

  test('names no header that is neither sent nor read', () => {
    const named = text.match(/x-incontext-[a-z-]+/g) ?? [];
    expect(named.filter((name) => ![...ANSWER_HEADERS, ...REQUEST_HEADERS].includes(name))).toEqual([]);
  });
});

test('agents.md lists every answer header', () => {
  const rows = tableRows(readPage('docs/agents.md'), 'What the agent sees').map(([first]) => first);
  expect(rows.slice(0, ANSWER_HEADERS.length).toSorted()).toEqual(ANSWER_HEADERS.toSorted());
});

test('simulator.md lists the flags of the simulator, but for those of vLLM', () => {
  const own = SIMULATE_HELP.split('Start flags of vLLM')[0] ?? '';
  const rows = tableRows(readPage('docs/simulator.md'), 'Flags').map(([flag]) => flag);
  expect([...rows, '--help']).toEqual([...own.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag));
});

test('simulator.md lists every member of a script', () => {
  const members = /scripts the answer: ([\w,\s]+)\./.exec(SIMULATE_HELP)?.[1]?.split(/,\s+/) ?? [];
  expect(members.length).toBeGreaterThan(5);
  const rows = tableRows(readPage('docs/simulator.md'), 'Script an answer').map(([member]) => member);
  expect(rows.toSorted()).toEqual(members.toSorted());
});
