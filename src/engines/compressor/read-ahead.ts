import type { Message } from '../../conversation/message.js';
import type { EngineServices } from '../services.js';
import { othersTurn } from '../turns.js';
import { factsOfMessage } from './digest.js';
import type { CountText } from './ledger-text.js';
import { sizesOf } from './room.js';

/** Reads every message once, and lets others have their turn in between: what follows finds all of it known. */
export async function readAhead(
  messages: readonly Message[],
  services: EngineServices,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const message of messages) {
    factsOfMessage(message);
    sizesOf([message], services);
    await othersTurn(signal);
  }
}

/** The same texts are weighed over and over while a pass looks for what fits. */
export function countingOnce(count: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = count(text);
    known.set(text, tokens);
    return tokens;
  };
}
