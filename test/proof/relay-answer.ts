import type { ServerResponse } from 'node:http';
import type { WireAssistant } from './recording.js';

export interface Generated {
  readonly message: WireAssistant;
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Characters of a text in one chunk. */
const PIECE = 48;
const HEAD = { id: 'chatcmpl-proof', created: 1_900_000_000, model: 'simulated' };

/** Writes an answer as vLLM does: in one piece, or as a stream of events. */
export function writeAnswer(response: ServerResponse, generated: Generated, stream: StreamWish): void {
  if (stream.wanted) writeStream(response, generated, stream.withUsage);
  else writeWhole(response, generated);
}

export interface StreamWish {
  readonly wanted: boolean;
  readonly withUsage: boolean;
}

function writeWhole(response: ServerResponse, generated: Generated): void {
  const { message, finish } = generated;
  const body = {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { tool_calls: [], ...message }, finish_reason: finish }],
    usage: usageOf(generated),
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function writeStream(response: ServerResponse, generated: Generated, withUsage: boolean): void {
  const { message, finish } = generated;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const event = (body: object): void => {
    response.write(
      `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [], ...body })}\n\n`,
    );
  };
  const delta = (part: object, reason: string | null = null): void =>
    event({ choices: [{ index: 0, delta: part, finish_reason: reason }] });
  delta({ role: 'assistant', content: '' });
  const text = message.content ?? '';
  for (let at = 0; at < text.length; at += PIECE) delta({ content: text.slice(at, at + PIECE) });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const { name, arguments: input } = call.function;
    delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: '' } }] });
    delta({ tool_calls: [{ index, function: { arguments: input } }] });
  }
  delta({}, finish);
  if (withUsage) event({ usage: usageOf(generated) });
  response.end('data: [DONE]\n\n');
}

function usageOf({ promptTokens, completionTokens }: Generated): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
