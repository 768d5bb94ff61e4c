import { sentences } from './prose.js';
import { Random } from './random.js';
import type { WireMessage } from './recording.js';
import type { SendOptions, Stage } from './stage.js';

/** About 220 tokens that a user says; the same turn of the same topic is always the same. */
export function userTurn(topic: number, turn: number, mark?: string): WireMessage {
  const prose = sentences(new Random(topic * 1_000 + turn), 9).join(' ');
  return { role: 'user', content: mark === undefined ? prose : `Remember ${mark}. ${prose}` };
}

export interface Talk {
  readonly stage: Stage;
  readonly run: string;
  readonly topic: number;
  /** Said in each of the user's turns. */
  readonly mark?: string;
  readonly options?: SendOptions;
}

/** Goes on with a history for so many turns; the client keeps what it got. */
export async function talk(
  { stage, run, topic, mark, options }: Talk,
  history: readonly WireMessage[],
  turns: number,
): Promise<WireMessage[]> {
  const messages = [...history];
  for (let turn = 0; turn < turns; turn += 1) {
    messages.push(userTurn(topic, messages.length, mark));
    messages.push(await stage.send(run, messages, { stream: turn % 2 === 1, ...options }));
  }
  return messages;
}

/** A history that never went through the proxy. */
export function pastTalk(topic: number, turns: number, mark?: string): WireMessage[] {
  return Array.from({ length: turns }, (_, turn): WireMessage[] => [
    userTurn(topic, 2 * turn, mark),
    { role: 'assistant', content: `Answer ${2 * turn + 1}. All is noted.` },
  ]).flat();
}
