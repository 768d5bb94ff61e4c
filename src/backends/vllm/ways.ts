import type { RawObject } from '../../body/raw-object.js';
import { atMost } from '../calls/at-most.js';
import type { Count, CountCall } from '../contract.js';
import type { ChatCounts } from './chat-counts.js';
import { completionPrompts, promptKey, promptPayload } from './completion-prompts.js';
import type { PromptCounts } from './prompt-counts.js';
import { refusePromptIds } from './prompt-ids.js';
import { chatOfResponse } from './response-chat.js';
import type { TokenizerClient } from './tokenizer-client.js';
import { truncatedPrompt } from './truncation.js';

/** How many prompts of one request are counted at a time. The server's tokenizer takes one after the other anyway. */
const AT_ONCE = 4;
/** From this version on Responses are rendered as `chatOfResponse` has it. */
const RENDERS_RESPONSES = 27;

/** The largest prompt counts. Token ids are their own count: nothing is asked. */
export async function countCompletion(
  request: RawObject,
  call: CountCall,
  prompts: PromptCounts,
): Promise<Count> {
  refusePromptIds(request);
  const { tokenIds, texts } = completionPrompts(request);
  const model = request.value('model');
  const counted = await atMost(AT_ONCE, texts, (text) =>
    prompts.count(
      { model, key: promptKey(request, text), payload: () => promptPayload(request, text) },
      call,
    ),
  );
  const tokens = counted.reduce((most, one) => Math.max(most, one.tokens), tokenIds);
  return { tokens: truncatedPrompt(request, tokens), contextLength: counted[0]?.contextLength };
}

export async function countResponse(
  request: RawObject,
  call: CountCall,
  chats: ChatCounts,
  client: TokenizerClient,
): Promise<Count> {
  refusePromptIds(request);
  const chat = chatOfResponse(request);
  await client.version.requireAtLeast(RENDERS_RESPONSES, call);
  return chats.countMade(chat, request, call);
}
