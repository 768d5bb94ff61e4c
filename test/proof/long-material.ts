import type { Fact, WireFunction } from './recording.js';

export const LONG_SYSTEM = `You are the operations assistant of a small company that moves its services to a new data centre.
Answer briefly and to the point. Use the tools to look things up before you claim something about the running system.
Never change anything in production without being asked to. When a number, a date, a name or an identifier was given to
you in this conversation, use exactly that one. When something was corrected later, the later statement holds.`;

const text = (description: string): unknown => ({ type: 'string', description });

export const LONG_TOOLS: readonly WireFunction[] = [
  tool('search_logs', 'Search the logs of a service.', { service: text('its name'), query: text('words') }),
  tool('read_file', 'Read a file of the repository.', { path: text('path below the root') }),
  tool('run_check', 'Run one of the health checks.', { check: text('its name'), target: text('host') }),
  tool('get_ticket', 'Read a ticket.', { key: text('key of the ticket') }),
];

export function tool(
  name: string,
  description: string,
  properties: Record<string, unknown>,
  required: readonly string[] = Object.keys(properties),
): WireFunction {
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required } },
  };
}

/** Who says a fact, and in which turn (counted from 1). */
export interface Plant {
  readonly fact: Fact;
  readonly turn: number;
  readonly by: 'user' | 'assistant' | 'tool';
  /** When the outdated version was said, by the user. */
  readonly outdatedTurn?: number;
}

function plant(turn: number, by: Plant['by'], sentence: string, value: string, question: string): Plant {
  if (!sentence.includes(value)) throw new Error(`the fact ${value} is not in its sentence`);
  return { turn, by, fact: { sentence, value, question } };
}

/** Eleven are ids or numbers, one is a name; the one of the rollout window is corrected later. */
export const PLANTS: readonly Plant[] = [
  plant(2, 'user', 'The staging cluster answers on port 31847.', '31847', 'Which port does staging use?'),
  plant(4, 'user', 'The racks were ordered as PO-77193-K.', 'PO-77193-K', 'How were the racks ordered?'),
  {
    turn: 31,
    by: 'user',
    outdatedTurn: 6,
    fact: {
      sentence: 'Correction: the rollout window begins at 04:10 UTC.',
      value: '04:10',
      question: 'When does the rollout window begin?',
      outdated: { sentence: 'The rollout window begins at 02:40 UTC.', value: '02:40' },
    },
  },
  plant(
    8,
    'user',
    'The ledger freeze starts on 2031-05-17.',
    '2031-05-17',
    'When does the ledger freeze start?',
  ),
  plant(11, 'tool', 'The bundle has the checksum 9f3ac17e44d1.', '9f3ac17e44d1', 'What is the checksum?'),
  plant(14, 'user', 'The whole move may cost 48,250 euros.', '48,250', 'What may the move cost?'),
  plant(
    17,
    'tool',
    'The failing shard is on db-kestrel-19.',
    'db-kestrel-19',
    'Which host has the failing shard?',
  ),
  plant(
    20,
    'assistant',
    'I track the rollback as OPS-5582.',
    'OPS-5582',
    'Which ticket tracks the rollback?',
  ),
  plant(23, 'user', 'At the carrier we talk to Ilse Vandenberg.', 'Ilse Vandenberg', 'Who is our contact?'),
  plant(27, 'user', 'Audit logs must be kept for 413 days.', '413 days', 'How long do we keep audit logs?'),
  plant(
    33,
    'user',
    'The keys are changed by tools/migrate/rekey_v7.sql.',
    'tools/migrate/rekey_v7.sql',
    'Which script changes the keys?',
  ),
  plant(
    41,
    'user',
    'Alerts of the night go to night-desk@harbour.example.',
    'night-desk@harbour.example',
    'Where do alerts of the night go?',
  ),
];
