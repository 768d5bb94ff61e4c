import { hash } from 'node:crypto';
import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';
import { type ChatRules, CURRENT_RULES } from './chat-rules.js';
import { renderedMessages } from './messages.js';
import { TEMPLATE_MEMBERS, templateKwargs } from './template-kwargs.js';

/** Members of a chat request that reach the prompt and that `/tokenize` reads under the same name. */
const SAME_NAME = [
  'continue_final_message',
  'add_special_tokens',
  'chat_template',
  'mm_processor_kwargs',
  'media_io_kwargs',
] as const;

const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');
const TRUE = Buffer.from('true');

/**
 * The body of `POST /tokenize` (vLLM's `TokenizeChatRequest`), in parts, that renders the same prompt as this chat
 * request does in Chat Completions under these rules. Put together from the request's own bytes, so that
 * numbers, key order and escapes survive.
 * @throws CountFailedError `unsupported` where there are no `messages` to render.
 */
export function countingPayload(request: RawObject, rules: ChatRules): Buffer[] {
  const messages = request.raw('messages');
  if (messages === undefined) throw new CountFailedError('unsupported');
  const parts: Buffer[] = [OPEN];
  const add = (name: string, value: Buffer | undefined): void => {
    if (value === undefined) return;
    parts.push(Buffer.from(`${parts.length === 1 ? '' : ','}"${name}":`), value);
  };
  add('model', request.raw('model'));
  add('messages', rules.readsReasoningContent ? renderedMessages(request, messages) : messages);
  if (!rules.hidesTools) add('tools', listOf(request.raw('tools')));
  for (const name of SAME_NAME) add(name, request.raw(name));
  add('chat_template_kwargs', templateKwargs(request, rules));
  add('add_generation_prompt', request.raw('add_generation_prompt') ?? TRUE);
  parts.push(CLOSE);
  return parts;
}

/** Every member that `countingPayload` looks at. */
const READ = ['model', 'messages', 'tools', ...SAME_NAME, ...TEMPLATE_MEMBERS, 'add_generation_prompt'];

/**
 * Identifies the counting request without building it: equal keys mean equal payloads. Of fixed length, so that
 * nothing can run into what stands behind it.
 * @throws CountFailedError `unsupported` where there are no `messages` to render.
 */
export function countingKey(request: RawObject, rules: ChatRules): string {
  if (!request.has('messages')) throw new CountFailedError('unsupported');
  const digests = READ.map((name) => request.digest(name) ?? '');
  if (rules !== CURRENT_RULES) digests.push(JSON.stringify(rules));
  return hash('sha256', digests.join(' '), 'base64url');
}

/** Tools of any other kind are not rendered. */
function listOf(raw: Buffer | undefined): Buffer | undefined {
  return raw?.[0] === 0x5b ? raw : undefined;
}
