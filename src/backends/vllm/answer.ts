import { RawObject } from '../../body/raw-object.js';
import type { BodyReader } from '../calls/body-reader.js';
import { CountFailedError } from '../contract.js';

/** What `/tokenize` answers. */
export interface ServerCount {
  readonly tokens: number;
  readonly contextLength: number;
}

/** Answers up to this size are parsed whole. In bytes. */
const WHOLE = 64 * 1024;
/** `count` and `max_model_len` come before the token ids; this much of a larger answer is looked at. In bytes. */
const HEAD = 4 * 1024;
const OPENING = /^(?:\u00ef\u00bb\u00bf)?[ \t\n\r]*\{/;
const SCALAR_MEMBER =
  /[ \t\n\r]*"((?:[^"\\]|\\.)*)"[ \t\n\r]*:[ \t\n\r]*([-+.\w]+|"(?:[^"\\]|\\.)*")[ \t\n\r]*,/y;
const INTEGER = /^(?:0|[1-9]\d*)$/;
const CLOSING_BRACE = 0x7d;

/**
 * Reads a `/tokenize` answer. The answer carries every token id, about 5 bytes a token: a large one is read
 * from its head, and the rest is only looked at for the closing brace at its end.
 * Throws CountFailedError `bad_answer` as soon as the answer cannot be one.
 */
export class TokenizeAnswer implements BodyReader<ServerCount> {
  #kept: Buffer[] = [];
  #size = 0;
  #fromHead: ServerCount | undefined;
  #lastByte = 0;

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#lastByte = lastVisibleByte(chunk) ?? this.#lastByte;
    if (this.#fromHead !== undefined) return;
    this.#kept.push(chunk);
    if (this.#size <= WHOLE) return;
    this.#fromHead = readHead(Buffer.concat(this.#kept, Math.min(this.#size, HEAD)).toString('latin1'));
    this.#kept = [];
  }

  end(): ServerCount {
    if (this.#fromHead === undefined) return readWhole(Buffer.concat(this.#kept));
    if (this.#lastByte !== CLOSING_BRACE) throw new CountFailedError('bad_answer');
    return this.#fromHead;
  }
}

function readWhole(bytes: Buffer): ServerCount {
  const answer = RawObject.parse(bytes);
  return serverCount(answer?.text('count'), answer?.text('max_model_len'));
}

/** Of duplicates the last counts. */
function readHead(head: string): ServerCount {
  const values = new Map<string, string>();
  const member = new RegExp(SCALAR_MEMBER);
  member.lastIndex = OPENING.exec(head)?.[0].length ?? head.length;
  for (let match = member.exec(head); match !== null; match = member.exec(head)) {
    values.set(match[1] as string, match[2] as string);
  }
  return serverCount(values.get('count'), values.get('max_model_len'));
}

function serverCount(count: string | undefined, length: string | undefined): ServerCount {
  const tokens = readInteger(count);
  const contextLength = readInteger(length);
  if (tokens === undefined || contextLength === undefined || contextLength === 0) {
    throw new CountFailedError('bad_answer');
  }
  return { tokens, contextLength };
}

function readInteger(text: string | undefined): number | undefined {
  if (text === undefined || !INTEGER.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

function lastVisibleByte(chunk: Buffer): number | undefined {
  for (let at = chunk.length - 1; at >= 0; at -= 1) {
    const byte = chunk[at] as number;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
  }
  return undefined;
}
