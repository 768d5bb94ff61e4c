import type { RawObject } from '../../body/raw-object.js';
import { atMost } from '../calls/at-most.js';
import type { Count, CountCall } from '../contract.js';
import { completionPrompts, promptKey, promptPayload } from './completion-prompts.js';
import { countingKey, countingPayload } from './payload.js';
import type { PromptCounts, PromptToCount } from './prompt-counts.js';
import { refusePromptIds, transferredPromptTokens } from './prompt-ids.js';
import { chatOfResponse } from './response-chat.js';
import type { TokenizerClient } from './tokenizer-client.js';
import { refuseUnknownToolChoice } from './tool-choice.js';
import { truncatedPrompt, truncatedTokens } from './truncation.js';

/** How many prompts of one request are counted at a time. The server's tokenizer takes one after the other anyway. */
const AT_ONCE = 4;
/** From this version on Responses are rendered as `chatOfResponse` has it. */
const RENDERS_RESPONSES = 27;

export async function countChat(request: RawObject, call: CountCall, prompts: PromptCounts): Promise<Count> {
  const transferred = transferredPromptTokens(request);
  if (transferred === undefined) refuseUnknownToolChoice(request);
  const { tokens, contextLength } = await prompts.count(chatPrompt(request), call);
  return { tokens: transferred ?? truncatedTokens(request, tokens), contextLength };
}

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
  prompts: PromptCounts,
  client: TokenizerClient,
): Promise<Count> {
  refusePromptIds(request);
  const chat = chatOfResponse(request);
  await client.version.requireAtLeast(RENDERS_RESPONSES, call);
  return prompts.count(chatPrompt(chat), call);
}

function chatPrompt(request: RawObject): PromptToCount {
  return {
    model: request.value('model'),
    key: countingKey(request),
    payload: () => countingPayload(request),
  };
}
