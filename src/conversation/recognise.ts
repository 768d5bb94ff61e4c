import type { NodeRecord, StoredPath, StoredRun } from '../store/conversation-store.js';
import { type Alignment, align, NO_ALIGNMENT } from './align.js';
import { isFields } from './canonical.js';
import type { Chain, ChainMessage } from './chain.js';
import { answeredCallUid, sentToolCallUids, toolCallUids } from './tool-call-uids.js';
import { isUid } from './uid.js';

export { runCandidate } from './run.js';

export interface RecogniseInput {
  readonly chain: Chain;
  /** The chain's messages, parsed. Those of known nodes are not looked at. */
  readonly messages: readonly unknown[];
  readonly stored: StoredPath;
  /** What was found of `runCandidate`, where nothing of the path is known. */
  readonly run?: StoredRun | undefined;
  /** What follows the run: `others` of its last node. */
  readonly afterRun?: readonly NodeRecord[] | undefined;
  /** What the first message behind the known ones stands for, where that is known from elsewhere. */
  readonly replaced?: NodeRecord | undefined;
  /** The conversation's id as its client gave it. */
  readonly explicitId?: string | undefined;
  readonly mintUid: () => string;
}

export interface Recognition {
  readonly conversationId: string;
  /**
   * `known`: the request goes on, repeats or edits what is known. `fork`: it leaves a conversation that went on
   * otherwise. `continued`: a known conversation without its former head.
   */
  readonly kind: 'new' | 'known' | 'fork' | 'continued';
  /** One for each message of the chain. */
  readonly path: readonly NodeRecord[];
  /** Those of the path that are to be stored. */
  readonly fresh: readonly NodeRecord[];
}

/** Finds the conversation of a request, and gives every message its identity. */
export function recognise(input: RecogniseInput): Recognition {
  const { chain, stored } = input;
  const known = stored.nodes.slice(0, chain.messages.length);
  const alignment = known.length > 0 ? alignBelow(input, known) : alignRun(input);
  const { id, kind } = conversationOf(input, known.at(-1), alignment);
  const path = known.slice();
  for (let i = known.length; i < chain.messages.length; i += 1) {
    path.push(freshNode(input, path, id, alignment.stoodFor[i - known.length] ?? []));
  }
  return { conversationId: id, kind, path, fresh: path.slice(known.length) };
}

function newMessages({ chain, messages }: RecogniseInput, from: number) {
  return chain.messages.slice(from).map(({ content }, i) => ({ content, message: messages[from + i] }));
}

function alignBelow(input: RecogniseInput, known: readonly NodeRecord[]): Alignment {
  const { stored, replaced } = input;
  if (known.length === input.chain.messages.length) return NO_ALIGNMENT;
  const found = align(newMessages(input, known.length), stored.others, known.at(-1)?.hash);
  return found.matches === 0 && replaced !== undefined ? { stoodFor: [[replaced]], matches: 1 } : found;
}

/** The nodes of a run stand for the messages that repeat it, and those behind it may go on in the same way. */
function alignRun(input: RecogniseInput): Alignment {
  const { chain, run, afterRun = [] } = input;
  if (run === undefined) return NO_ALIGNMENT;
  const start = chain.messages.findIndex((_, i) =>
    run.nodes.every(({ content }, j) => chain.messages[i + j]?.content === content),
  );
  if (start < 0 || run.nodes.length === 0) return NO_ALIGNMENT;
  const end = start + run.nodes.length;
  const rest = align(newMessages(input, end), afterRun, run.nodes.at(-1)?.hash);
  const stoodFor: (readonly NodeRecord[] | undefined)[] = new Array(start).fill(undefined);
  stoodFor.push(...run.nodes.map((node) => [node]), ...rest.stoodFor);
  return { stoodFor, matches: run.nodes.length + rest.matches };
}

function conversationOf(
  { chain, stored, run, explicitId, mintUid }: RecogniseInput,
  deepest: NodeRecord | undefined,
  { matches }: Alignment,
): { readonly id: string; readonly kind: Recognition['kind'] } {
  if (explicitId !== undefined) {
    const { conversation } = stored;
    if (conversation?.explicitId !== explicitId) return { id: mintUid(), kind: deepest ? 'fork' : 'new' };
    return { id: conversation.id, kind: deepest ? 'known' : 'continued' };
  }
  if (deepest !== undefined) {
    const goesOn = chain.messages.length > stored.nodes.length;
    const wentOn = stored.others.some(
      ({ parent, conversation }) => parent === deepest.hash && conversation === deepest.conversation,
    );
    const isFork = goesOn && wentOn && matches === 0;
    return isFork ? { id: mintUid(), kind: 'fork' } : { id: deepest.conversation, kind: 'known' };
  }
  if (run !== undefined && matches > 0) return { id: run.conversation.id, kind: 'continued' };
  return { id: mintUid(), kind: 'new' };
}

/** The node of the next message on the path. A client's own ids count first, then those of what it stands for. */
function freshNode(
  { chain, messages, mintUid }: RecogniseInput,
  path: readonly NodeRecord[],
  conversation: string,
  stoodFor: readonly NodeRecord[],
): NodeRecord {
  const depth = path.length;
  const { hash, content } = chain.messages[depth] as ChainMessage;
  const message = messages[depth];
  const sent = isFields(message) ? message : {};
  const [first, ...folded] = stoodFor;
  const sentAbsorbed = sent._absorbed_message_uids;
  const known = [sentToolCallUids(sent._tool_call_uids), ...stoodFor.map((node) => node.toolCallUids)];
  const assistant = assistantBefore(chain, depth);
  const answered = answeredCallUid(message, path[assistant], path.slice(assistant + 1));
  return {
    hash,
    parent: path.at(-1)?.hash,
    content,
    depth,
    conversation,
    uid: isUid(sent.message_uid) ? sent.message_uid : (first?.uid ?? mintUid()),
    absorbed:
      Array.isArray(sentAbsorbed) && sentAbsorbed.every(isUid)
        ? [...sentAbsorbed]
        : [...(first?.absorbed ?? []), ...folded.flatMap(({ uid, absorbed }) => [uid, ...absorbed])],
    toolCallUids: toolCallUids(message, known, mintUid),
    toolCallUid: answered ?? (isUid(sent._tool_call_uid) ? sent._tool_call_uid : undefined),
  };
}

/** The place of the nearest assistant's message; -1: there is none. */
function assistantBefore({ messages }: Chain, depth: number): number {
  let at = depth - 1;
  while (at >= 0 && messages[at]?.role !== 'assistant') at -= 1;
  return at;
}
