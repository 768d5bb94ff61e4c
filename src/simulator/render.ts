import type { Call } from './call.js';
import { prepareChat } from './chat-preparation.js';
import type { Instance } from './instance.js';
import { detail, scaleOutDisabled } from './refusal.js';
import type { QwenTokenizer } from './tokenizer.js';

/** The endpoints of 0.32 that need `--enable-scale-out` and are not simulated beyond its refusal. */
export function answerScaleOut(_call: Call, instance: Instance): never {
  if (!instance.options.enableScaleOut) throw scaleOutDisabled();
  throw detail(404, 'Not Found');
}

/** `POST /v1/chat/completions/render`: what would be generated from, all checks included. */
export async function answerRender(call: Call, instance: Instance): Promise<void> {
  const isOld = instance.options.vllm === '0.16';
  if (!isOld && !instance.options.enableScaleOut) throw scaleOutDisabled();
  const { ask, promptIds, cap, head, request } = await prepareChat(call, instance);
  if (isOld) {
    const prompt = instance.tokenizer.decode(promptIds);
    const messages = request.get('messages');
    call.respond(200, JSON.stringify([messages, [{ prompt_token_ids: promptIds, prompt }]]));
    return;
  }
  const parser = instance.options.reasoningParser;
  const thinks = instance.renderer.thinks(request);
  const wantsOffsets = request.get('return_token_offsets') === true;
  const rest = {
    model: head.model,
    reasoning_ended: parser === undefined ? null : !thinks,
    reasoning_parser_kwargs:
      parser === undefined ? null : { chat_template_kwargs: templateArguments(thinks) },
    return_token_ids: null,
    output_mode: 'tokens',
    stream: ask.stream,
    stream_options: null,
    cache_salt: null,
    priority: 0,
    kv_transfer_params: null,
    ec_transfer_params: null,
  };
  const start = {
    request_id: head.id,
    token_ids: promptIds,
    token_offsets: wantsOffsets ? offsets(promptIds, instance.tokenizer) : null,
    features: null,
    content_parts: null,
  };
  // The floats keep Python's spelling, so this part is written by hand.
  const sampling = `"sampling_params":{${ask.choices > 1 ? `"n":${ask.choices},` : ''}"presence_penalty":0.0,"frequency_penalty":0.0,"repetition_penalty":1.0,"temperature":0.6,"top_p":0.95,"top_k":20,"min_p":0.0,"stop":${JSON.stringify(ask.stop)},"stop_token_ids":[],"max_tokens":${cap},"skip_special_tokens":false,"output_kind":${ask.stream ? 1 : 2},"skip_clone":true,"bad_words":[],"skip_reading_prefix_cache":false}`;
  call.respond(200, `${JSON.stringify(start).slice(0, -1)},${sampling},${JSON.stringify(rest).slice(1)}`);
}

function templateArguments(thinks: boolean): object {
  return {
    enable_thinking: thinks,
    cohere_format: 'cmd4',
    add_generation_prompt: true,
    continue_final_message: false,
  };
}

function offsets(ids: readonly number[], tokenizer: QwenTokenizer): [number, number][] {
  let at = 0;
  return ids.map((id) => {
    const start = at;
    at += Array.from(tokenizer.decode([id])).length;
    return [start, at];
  });
}
