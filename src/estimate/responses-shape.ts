import { type Fields, isRecord, listOf, systemMessage } from './shape.js';

/** A chat that says about what a Responses request says. */
export function chatOfResponse({ instructions, input, tools }: Fields): unknown {
  const said = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input).map(messageOf);
  return { messages: [...systemMessage(instructions), ...said], tools };
}

function messageOf(item: unknown): unknown {
  if (!isRecord(item)) return item;
  const { type } = item;
  if (type === 'function_call') {
    return { role: 'assistant', tool_calls: [{ function: { name: item.name, arguments: item.arguments } }] };
  }
  if (type === 'function_call_output') {
    return { role: 'tool', tool_call_id: item.call_id, content: item.output };
  }
  if (type === 'reasoning')
    return { role: 'assistant', content: [...listOf(item.content), ...listOf(item.summary)] };
  if (type === undefined || type === 'message') return item;
  return { role: type, content: [item] };
}
