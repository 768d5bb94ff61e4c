import type { RawObject } from '../../body/raw-object.js';

/** What differs between versions and start flags of vLLM in how a chat is rendered. */
export interface ChatRules {
  /** `reasoning_content` of a message is read as `reasoning`; else it is dropped. */
  readonly readsReasoningContent: boolean;
  /** `reasoning_effort` switches the template's thinking on and off. */
  readonly effortSwitchesThinking: boolean;
  /** `tool_choice: none` hides the tools (`--exclude-tools-when-tool-choice-none`). */
  readonly hidesTools: boolean;
}

/** Of vLLM 0.22 and later, without flags. */
export const CURRENT_RULES: ChatRules = {
  readsReasoningContent: true,
  effortSwitchesThinking: true,
  hidesTools: false,
};

/** Of vLLM 0.16 to 0.20, without flags. */
export const EARLIER_RULES: ChatRules = {
  readsReasoningContent: false,
  effortSwitchesThinking: false,
  hidesTools: false,
};

/** `undefined` for versions that were not looked at, and for a server that does not say which it is. */
export function rulesOfVersion(minor: number | undefined): ChatRules | undefined {
  if (minor === undefined) return undefined;
  if (minor >= 22) return CURRENT_RULES;
  return minor >= 16 && minor <= 20 ? EARLIER_RULES : undefined;
}

/** True where the version decides what this chat renders. */
export function dependsOnVersion(request: RawObject): boolean {
  const effort = request.raw('reasoning_effort');
  if (effort !== undefined && effort[0] !== NULL) return true;
  const messages = request.raw('messages');
  return messages !== undefined && mayHaveReasoningContent(request, messages);
}

/** True where a start flag decides whether the tools are rendered. */
export function dependsOnToolChoice(request: RawObject): boolean {
  return request.text('tool_choice') === '"none"' && request.raw('tools')?.[0] === OPENING_BRACKET;
}

/** A search that starts at a rare byte is forty times as fast as one for the whole name. */
export function mayHaveReasoningContent(request: RawObject, messages: Buffer): boolean {
  return request.hasEscapedKey || (messages.includes(TRACE) && messages.includes(REASONING_CONTENT));
}

const NULL = 0x6e;
const OPENING_BRACKET = 0x5b;
const REASONING_CONTENT = Buffer.from('reasoning_content');
const TRACE = Buffer.from('_content');
