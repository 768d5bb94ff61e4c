import { AGENT_POLICY, AGENT_TOOLS } from './agent-policy.js';
import { Records } from './agent-records.js';
import { AgentScript } from './agent-script.js';
import { comeBack, type Past, TASKS } from './agent-tasks.js';
import { Random } from './random.js';
import type { Recording } from './recording.js';

export interface AgentOptions {
  readonly seed?: number;
  /** Customers in a row; 22 are about 78,000 tokens. */
  readonly customers?: number;
  /** Who comes back was served so many customers ago; one of three does. */
  readonly comesBackAfter?: number;
}

/** Customers of a service desk, one after the other in one history, each a task with tool loops and records. */
export function agentRuns({ seed = 21, customers = 22, comesBackAfter = 4 }: AgentOptions = {}): Recording {
  const random = new Random(seed);
  const desk = { random, records: new Records(random), script: new AgentScript() };
  const past: Past[] = [];
  for (let at = 0; at < customers; at += 1) {
    const task = TASKS[at % TASKS.length];
    if (task !== undefined) past.push(task(desk));
    const returning = past.at(-1 - comesBackAfter);
    if (at % 3 === 2 && returning !== undefined) comeBack(desk, returning);
  }
  return {
    name: 'agent',
    system: AGENT_POLICY,
    tools: AGENT_TOOLS,
    messages: desk.script.messages,
    questions: new Map(),
    facts: [],
    ids: desk.records.ids,
  };
}
