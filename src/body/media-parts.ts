import type { RawObject } from './raw-object.js';

/** One of these is in the key or the type of every part that is no text. */
const TRACES = ['image"', '_url"', 'audio"', 'embeds"', 'file"', 'document"'].map((text) =>
  Buffer.from(text),
);
/** Of requests that were looked at: more than one stage wants to know. */
const known = new WeakMap<RawObject, number>();
const KINDS = /^(?:input_)?(?:image|audio|video)(?:_url|_embeds|_pil)?$|^(?:input_)?(?:file|document)$/;

/** How many parts of a request's messages are images, audio, video or files. `member`: where the messages are. */
export function mediaParts(request: RawObject, member: 'messages' | 'input' = 'messages'): number {
  const before = known.get(request);
  if (before !== undefined) return before;
  const parts = countParts(request, member);
  known.set(request, parts);
  return parts;
}

function countParts(request: RawObject, member: 'messages' | 'input'): number {
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
