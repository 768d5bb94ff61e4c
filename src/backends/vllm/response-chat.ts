import { RawObject } from '../../body/raw-object.js';
import { joined, listOf, separated } from './json-parts.js';
import { RawFields, uncertain } from './raw-fields.js';
import { messagesOfItems } from './response-items.js';

const QUOTE = 0x22;
const OPENING_BRACE = 0x7b;
/** Rendered for the model in a form of their own. All other kinds but functions are never rendered. */
const SHOWN_OTHERWISE = new Set(['namespace', 'custom']);

/**
 * The chat request that renders the same prompt as this Responses request does on vLLM 0.27 to 0.33: from its own bytes,
 * so that numbers and key order survive.
 * @throws CountFailedError `unsupported` where that is not certain
 */
export function chatOfResponse(request: RawObject): RawObject {
  const all = new RawFields(request.bytes.subarray(request.span.start, request.span.end));
  const members: Buffer[] = [];
  const add = (name: string, value: Buffer | undefined): void => {
    if (value !== undefined) members.push(joined(`"${name}":`, value));
  };
  add('model', all.raw('model'));
  add('messages', listOf(messagesOf(all)));
  add('tools', toolsOf(all));
  for (const name of ['chat_template_kwargs', 'mm_processor_kwargs', 'media_io_kwargs'])
    add(name, all.raw(name));
  add('reasoning_effort', effortOf(all));
  // Chats have false.
  add('add_special_tokens', Buffer.from('true'));
  const chat = RawObject.parse(joined('{', separated(members), '}'));
  if (chat === undefined) throw uncertain();
  return chat;
}

function messagesOf(all: RawFields): Buffer[] {
  const instructions = all.text('instructions') === '' ? undefined : all.raw('instructions');
  const first = instructions === undefined ? [] : [joined('{"role":"system","content":', instructions, '}')];
  const input = all.raw('input');
  if (input === undefined) throw uncertain();
  if (input[0] === QUOTE) return [...first, joined('{"role":"user","content":', input, '}')];
  return [...first, ...messagesOfItems(input)];
}

function toolsOf(all: RawFields): Buffer | undefined {
  const tools = all.list('tools');
  if (tools.length === 0) return undefined;
  refuseUnknownChoice(all.raw('tool_choice'));
  return listOf(tools.flatMap(toolOf));
}

function toolOf(tool: Buffer): Buffer[] {
  if (tool[0] !== OPENING_BRACE) throw uncertain();
  const fields = new RawFields(tool);
  const type = fields.text('type');
  if (type === undefined || SHOWN_OTHERWISE.has(type)) throw uncertain();
  if (type !== 'function') return [];
  const known = ['name', 'description', 'parameters', 'strict', 'defer_loading'].flatMap((name) => {
    const value = fields.raw(name);
    return value === undefined ? [] : [joined(`"${name}":`, value)];
  });
  return [joined('{"type":"function","function":{', separated(known), '}}')];
}

const CHOICES = new Set(['"auto"', '"none"', '"required"']);

/** A choice among allowed tools may hide the others. */
function refuseUnknownChoice(choice: Buffer | undefined): void {
  if (choice === undefined || CHOICES.has(choice.toString())) return;
  if (choice[0] !== OPENING_BRACE || new RawFields(choice).text('type') !== 'function') throw uncertain();
}

function effortOf(all: RawFields): Buffer | undefined {
  const reasoning = all.raw('reasoning');
  if (reasoning === undefined) return undefined;
  if (reasoning[0] !== OPENING_BRACE) throw uncertain();
  return new RawFields(reasoning).raw('effort');
}
