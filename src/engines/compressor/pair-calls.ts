import type { Message } from '../../conversation/message.js';
import { isResult } from './borders.js';
import { type Call, callsOf, isRecord } from './message-text.js';

/**
 * The call that each result answers, by the index of the result. Ids are used again even within one run, so a result
 * is paired within the nearest assistant before it, and equal ids there in their order.
 */
export function pairCalls(messages: readonly Message[]): ReadonlyMap<number, Call> {
  const pairs = new Map<number, Call>();
  let open: OpenCall[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') open = openCalls(message);
    else if (isResult(message)) {
      const found = takeCall(open, message);
      if (found !== undefined) pairs.set(index, found);
    }
  }
  return pairs;
}

interface OpenCall extends Call {
  readonly uid: string | undefined;
  isAnswered: boolean;
}

function openCalls(message: Message): OpenCall[] {
  const uids = isRecord(message._tool_call_uids) ? message._tool_call_uids : {};
  const seen = new Map<string, number>();
  return callsOf(message).map((call) => {
    const key = call.id ?? '';
    const nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    const given: unknown = Object.hasOwn(uids, key) ? uids[key] : undefined;
    const uid: unknown = Array.isArray(given) ? given[nth] : given;
    return { ...call, uid: typeof uid === 'string' ? uid : undefined, isAnswered: false };
  });
}

function takeCall(open: readonly OpenCall[], result: Message): Call | undefined {
  const fits = (call: OpenCall) =>
    result._tool_call_uid !== undefined && call.uid !== undefined
      ? call.uid === result._tool_call_uid
      : call.id !== undefined && call.id === result.tool_call_id;
  const found = open.find((call) => !call.isAnswered && fits(call)) ?? open.find(fits);
  if (found !== undefined) found.isAnswered = true;
  return found;
}
