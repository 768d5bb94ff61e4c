import { AGENT_POLICY, AGENT_TOOLS } from './agent-policy.js';
import { Records } from './agent-records.js';
import { AgentScript } from './agent-script.js';
import { comeBack, type Past, TASKS } from './agent-tasks.js';
import { Random } from './random.js';
import type { Recording } from './recording.js';

export interface AgentOptions {
  readonly seed?: number;
  /** New customers in a row; with those who come back, 13 are about 78,000 tokens. */
  readonly customers?: number;
  /** Behind each new customer one comes back who was served so many customers ago. */
  readonly comesBackAfter?: number;
  /** What they then ask for. */
  readonly questions?: number;
}

/** Customers of a service desk, one after the other in one history, each a task with tool loops and records. */
export function agentRuns(options: AgentOptions = {}): Recording {
  const { seed = 21, customers = 13, comesBackAfter = 3, questions = 15 } = options;
  const random = new Random(seed);
  const desk = { random, records: new Records(random), script: new AgentScript() };
  const past: Past[] = [];
  for (let at = 0; at < customers; at += 1) {
    const task = TASKS[at % TASKS.length];
    if (task !== undefined) past.push(task(desk));
    const returning = past.at(-1 - comesBackAfter);
    if (returning !== undefined) comeBack(desk, returning, questions);
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
