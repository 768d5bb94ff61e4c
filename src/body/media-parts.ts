import type { RawObject } from './raw-object.js';

/** One of these is in the key or the type of every part that is no text. Searches that start at a rare byte are fast. */
const TRACES = ['_url"', '_audio', '_image', '_embeds', '_pil', '"image"', '"document"'].map((text) =>
  Buffer.from(text),
);
const KINDS = /^(?:input_)?(?:image|audio|video)(?:_url|_embeds|_pil)?$|^(?:input_)?(?:file|document)$/;

/** How many parts of the member's messages are images, audio, video or files. */
export function mediaParts(request: RawObject, member: 'messages' | 'input' = 'messages'): number {
  const raw = request.raw(member);
  if (raw === undefined) return 0;
  if (!request.hasEscapedKey && !TRACES.some((trace) => raw.includes(trace))) return 0;
  const messages = request.value(member);
  return Array.isArray(messages) ? messages.reduce((sum: number, one) => sum + mediaIn(one), 0) : 0;
}

function mediaIn(message: unknown): number {
  const content: unknown = Object(message).content;
  return Array.isArray(content) ? content.filter(isMedia).length : 0;
}

/** Parts may come without a type. */
function isMedia(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const type: unknown = Reflect.get(part, 'type');
  return typeof type === 'string' ? KINDS.test(type) : Object.keys(part).some((key) => KINDS.test(key));
}
