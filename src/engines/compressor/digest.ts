import type { Message } from '../../conversation/message.js';
import { othersTurn } from '../turns.js';
import { isResult } from './borders.js';
import { callLabel } from './call-label.js';
import { Excerpt, withoutDirectives } from './excerpt.js';
import type { SourcedFact, SourcedFacts } from './ledger.js';
import type { CountText } from './ledger-text.js';
import { type Call, callsOf, oneLine, textOf } from './message-text.js';
import { pairCalls } from './pair-calls.js';
import { NAMING, recordFacts, resultFacts, saidFacts } from './said-facts.js';
import { ToldResult, toldResult } from './tool-line.js';

/** Tokens that a message of each kind may take. */
export interface Caps {
  readonly user: number;
  readonly assistant: number;
  readonly result: number;
}

/** The steps of a conversation, one line a message, told by the engine alone. */
export function digestLines(
  messages: readonly Message[],
  caps: Caps,
  count: CountText,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  return linesOf(messages, caps, count, () => true, signal);
}

async function linesOf(
  messages: readonly Message[],
  caps: Caps,
  count: CountText,
  isTold: (message: Message, call: Call | undefined) => boolean,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const calls = pairCalls(messages);
  const lines: string[] = [];
  for (const [index, message] of messages.entries()) {
    const call = calls.get(index);
    const line = isTold(message, call) ? lineOf(message, call, caps, count) : '';
    if (line !== '') lines.push(line);
    await othersTurn(signal);
  }
  return lines;
}

/** Empty where it says nothing. */
function lineOf(message: Message, call: Call | undefined, caps: Caps, count: CountText): string {
  if (isResult(message)) {
    const told = resultWithoutDirectives(message);
    if (count(told.text) <= caps.result) return `- ${label(call)} -> ${oneLine(told.text)}`;
    return `- ${told.line(call, caps.result, count)}`;
  }
  const most = message.role === 'user' ? caps.user : caps.assistant;
  const said = oneLine(excerptOf(message).within(most, count));
  return said === '' ? '' : `- ${nameOf(message)}: ${said}`;
}

// Lines are written over and over, until all of them fit.
const excerpts = new WeakMap<Message, Excerpt>();
const results = new WeakMap<Message, ToldResult>();

function excerptOf(message: Message): Excerpt {
  const before = excerpts.get(message);
  if (before !== undefined) return before;
  const said = textOf(message.content);
  const made = new Excerpt(message.role === 'user' ? said : withoutDirectives(said));
  excerpts.set(message, made);
  return made;
}

function resultWithoutDirectives(message: Message): ToldResult {
  const before = results.get(message);
  if (before !== undefined) return before;
  const told = toldResult(message);
  const text = withoutDirectives(told.text);
  const made = text === told.text ? told : new ToldResult(text);
  results.set(message, made);
  return made;
}

/** The same without results that the list of facts tells of: a line of theirs would say it twice. */
export function stepLines(
  messages: readonly Message[],
  caps: Caps,
  count: CountText,
): Promise<readonly string[]> {
  const isToldByFacts = (message: Message, call: Call | undefined) =>
    isResult(message) &&
    call !== undefined &&
    count(toldResult(message).text) > caps.result &&
    factsOfMessage(message).some(({ worth }) => worth >= NAMING);
  return linesOf(messages, caps, count, (message, call) => !isToldByFacts(message, call));
}

/** What every message says exactly, before anything of it is cut. */
export function factsOf(messages: readonly Message[]): readonly SourcedFacts[] {
  const calls = pairCalls(messages);
  return messages.flatMap((message, index) => {
    const facts = factsOfMessage(message);
    if (isResult(message)) return [{ source: label(calls.get(index)), facts }];
    return [{ source: message.role, facts }, ...askedFacts(message)];
  });
}

const asked = new WeakMap<Message, readonly SourcedFacts[]>();

/** What the calls of a message say. */
function askedFacts(message: Message): readonly SourcedFacts[] {
  const before = asked.get(message);
  if (before !== undefined) return before;
  const facts = callsOf(message).map((call) => ({ source: callLabel(call), facts: recordFacts(call.args) }));
  asked.set(message, facts);
  return facts;
}

const known = new WeakMap<Message, readonly SourcedFact[]>();

/** Looked for once in each message: that is most of the work of a pass. */
export function factsOfMessage(message: Message): readonly SourcedFact[] {
  const before = known.get(message);
  if (before !== undefined) return before;
  const facts = isResult(message) ? resultFacts(toldResult(message)) : saidFacts(message);
  known.set(message, facts);
  return facts;
}

export function nameOf({ role }: Message): string {
  return role.charAt(0).toUpperCase() + role.slice(1);
}

function label(call: Call | undefined): string {
  return call === undefined ? 'tool' : callLabel(call);
}
