import { editObject } from '../../body/edit-object.js';
import { RawObject } from '../../body/raw-object.js';
import type { ChatRules } from './chat-rules.js';

/** The members of a chat request that reach the template as its kwargs. */
export const TEMPLATE_MEMBERS = ['chat_template_kwargs', 'documents', 'reasoning_effort'] as const;

const NONE = Buffer.from('{}');

/**
 * The raw `chat_template_kwargs` with what Chat Completions adds to them before it renders: `documents`,
 * `reasoning_effort` and the `enable_thinking` that may follow from it. `undefined`: there are none.
 * Kwargs that are no object stay as they are: the server judges them.
 */
export function templateKwargs(
  request: RawObject,
  { effortSwitchesThinking }: Pick<ChatRules, 'effortSwitchesThinking'>,
): Buffer | undefined {
  const sent = request.raw('chat_template_kwargs');
  const documents = given(request, 'documents');
  const effort = given(request, 'reasoning_effort');
  if (documents === undefined && effort === undefined) return sent;
  const base = RawObject.parse(sent === undefined || isNull(sent) ? NONE : sent);
  if (base === undefined) return sent;
  const set = new Map<string, Buffer | string>();
  if (documents !== undefined) set.set('documents', documents);
  if (effort !== undefined) {
    set.set('reasoning_effort', effort);
    if (effortSwitchesThinking && !base.has('enable_thinking')) {
      set.set('enable_thinking', request.value('reasoning_effort') === 'none' ? 'false' : 'true');
    }
  }
  return editObject(base, { set });
}

/** The member's raw value, `undefined` where it is absent or null. */
function given(request: RawObject, name: string): Buffer | undefined {
  const raw = request.raw(name);
  return raw === undefined || isNull(raw) ? undefined : raw;
}

function isNull(raw: Buffer): boolean {
  return raw[0] === 0x6e;
}
