import { z } from 'zod';
import type { Message } from '../../conversation/message.js';
import type { Ledger } from './ledger.js';

/** A client's conversation may hold marks of other versions and engines: they are history like any other. */
const VERSION = 1;

const LedgerShape = z.object({
  sources: z.array(z.string()),
  entries: z.array(
    z.object({
      text: z.string(),
      key: z.string(),
      about: z.string().default(''),
      source: z.int().min(0),
      worth: z.number(),
      seen: z.number(),
    }),
  ),
  steps: z.number(),
});

const SummaryMark = z.object({
  engine: z.literal('compressor'),
  version: z.literal(VERSION),
  kind: z.literal('summary'),
  /** The model's text, or the extract in its place. */
  summary: z.string(),
  /** The newest user request of what the summary stands for, word for word. */
  request: z.string(),
  /** What came after the summary was written: each is shown as it is until the model is asked again. */
  updates: z.array(
    z.object({
      place: z.enum(['behind', 'before']).default('behind'),
      steps: z.string(),
      facts: z.string(),
    }),
  ),
  /** What the message shows up to its updates: it stays byte for byte while only updates are added. */
  base: z.string(),
  ledger: LedgerShape,
});

/** All that the engine knows of what it has compressed. Nothing of it is kept anywhere else. */
export interface SummaryState {
  readonly summary: string;
  readonly request: string;
  readonly updates: readonly Update[];
  readonly base: string;
  readonly ledger: Ledger;
}

export interface Update {
  /** Whether it came behind all that was told until then, or before it: the first messages may go last. */
  readonly place: 'behind' | 'before';
  /** One line each. */
  readonly steps: string;
  /** What the steps named that was not shown before. */
  readonly facts: string;
}

const AckMark = z.object({
  engine: z.literal('compressor'),
  version: z.literal(VERSION),
  kind: z.literal('acknowledgement'),
});

export function summaryMark(state: SummaryState): unknown {
  return { engine: 'compressor', version: VERSION, kind: 'summary', ...state };
}

export function acknowledgementMark(): unknown {
  return { engine: 'compressor', version: VERSION, kind: 'acknowledgement' };
}

export function readSummary(message: Message): SummaryState | undefined {
  const read = SummaryMark.safeParse(message._engine_mark);
  if (!read.success) return undefined;
  const { summary, request, updates, base, ledger } = read.data;
  return { summary, request, updates, base, ledger };
}

export function isAcknowledgement(message: Message): boolean {
  return AckMark.safeParse(message._engine_mark).success;
}
