import type { AnswerHead, GatheredChoice } from './chat-shape.js';
import type { TokenCounts } from './usage.js';
import type { VllmVersion } from './version.js';

interface Finish {
  readonly reason: string;
  readonly stop: string | number | null;
}

/** `message`, absent members left out. */
export function messageAnswer(
  head: AnswerHead,
  choice: GatheredChoice,
  counts: TokenCounts,
  nextId: () => string,
): object {
  const isOld = head.vllm === '0.16';
  const called = choice.calls.length > 0;
  const finish = { reason: choice.finish, stop: choice.stop };
  const { stop_reason, stop_sequence } = stopReason(finish, called, head.vllm);
  return {
    id: head.id,
    type: 'message',
    role: 'assistant',
    content: isOld ? oldContent(choice) : content(choice, nextId),
    model: head.model,
    ...(stop_reason === null ? {} : { stop_reason }),
    ...(stop_sequence === null ? {} : { stop_sequence }),
    usage: messageUsage(counts, head.vllm),
  };
}

function content(choice: GatheredChoice, nextId: () => string): object[] {
  const blocks: object[] = [];
  if (choice.reasoning !== '')
    blocks.push({ type: 'thinking', thinking: choice.reasoning, signature: nextId() + nextId() });
  if (choice.content !== '') blocks.push({ type: 'text', text: choice.content });
  blocks.push(...toolUses(choice));
  return blocks.length === 0 ? [{ type: 'text', text: '' }] : blocks;
}

function oldContent(choice: GatheredChoice): object[] {
  return [{ type: 'text', text: choice.content }, ...toolUses(choice)];
}

function toolUses(choice: GatheredChoice): object[] {
  return choice.calls.map(({ id, name, arguments: text }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(text) as unknown,
  }));
}

export function stopReason(
  { reason, stop }: Finish,
  called: boolean,
  vllm: VllmVersion,
): { readonly stop_reason: string | null; readonly stop_sequence: string | null } {
  const of = (stop_reason: string | null, stop_sequence: string | null = null) => ({
    stop_reason,
    stop_sequence,
  });
  if (reason === 'length') return of('max_tokens');
  if (reason !== 'stop' && reason !== 'tool_calls') return of(null);
  if (vllm === '0.16') return of(reason === 'stop' ? 'end_turn' : 'tool_use');
  if (called) return of('tool_use');
  return typeof stop === 'string' ? of('stop_sequence', stop) : of('end_turn');
}

/** What was in the cache is told apart from the rest of the prompt, where it is told at all. */
export function messageUsage({ prompt, completion, cached }: TokenCounts, vllm: VllmVersion): object {
  if (vllm === '0.16' || cached === 0) return { input_tokens: prompt, output_tokens: completion };
  return { input_tokens: prompt - cached, output_tokens: completion, cache_read_input_tokens: cached };
}
