import type { Message } from '../../conversation/message.js';

const IMAGE = /image/;
const AUDIO = /audio/;
const VIDEO = /video/;

/** What a reader of a message sees, media as a placeholder: their bytes are no text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(partText).filter(Boolean).join('\n');
  if (content === undefined || content === null) return '';
  return partText(content);
}

/** The placeholder of a part that is no text; `undefined` for text and for what nobody knows. */
export function placeholderOf(part: unknown): string | undefined {
  if (!isRecord(part) || typeof part.text === 'string') return undefined;
  const kind = typeof part.type === 'string' ? part.type : Object.keys(part).join(' ');
  if (IMAGE.test(kind)) return `[image${address(part.image_url ?? part.image)}]`;
  if (AUDIO.test(kind)) return '[audio]';
  if (VIDEO.test(kind)) return '[video]';
  return /file|document|media/.test(kind) ? '[file]' : undefined;
}

/** Every run of white space as one space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s{2,}|[^\S ]/g, ' ').trim();
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A call of an assistant message, whatever of it can be read. */
export interface Call {
  readonly id: string | undefined;
  readonly name: string;
  readonly args: string;
}

export function callsOf(message: Message): readonly Call[] {
  const { tool_calls: calls } = message;
  return Array.isArray(calls) ? calls.map(readCall) : [];
}

function readCall(call: unknown): Call {
  const record = isRecord(call) ? call : {};
  const called = isRecord(record.function) ? record.function : {};
  const given = called.arguments;
  return {
    id: typeof record.id === 'string' ? record.id : undefined,
    name: typeof called.name === 'string' ? called.name : 'tool',
    args: typeof given === 'string' ? given : given === undefined ? '' : (JSON.stringify(given) ?? ''),
  };
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part)) return part === null || part === undefined ? '' : String(part);
  if (typeof part.text === 'string') return part.text;
  return placeholderOf(part) ?? shortJson(part);
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? '';
  return json.length > 2000 ? `${json.slice(0, 2000)}...` : json;
}

function address(image: unknown): string {
  const url = isRecord(image) ? image.url : image;
  return typeof url === 'string' && /^https?:/.test(url) && url.length < 300 ? ` ${url}` : '';
}
