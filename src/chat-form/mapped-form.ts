import { editObject } from '../body/edit-object.js';
import { arrayElements } from '../body/members.js';
import type { RawObject } from '../body/raw-object.js';
import type { ChatForm, Dialect, Group } from './chat-form.js';

/** Locates the members of a body that was written here. */
export type ReadBody = (bytes: Buffer) => RawObject;

/** The chat that stands for a request, of the groups that its list was read as. */
export function mappedForm(
  request: RawObject,
  dialect: Dialect,
  groups: readonly Group[],
  read: ReadBody,
): ChatForm {
  return new MappedForm(request, dialect, groups, read);
}

class MappedForm implements ChatForm {
  readonly isOwn = false;
  readonly #head: string | undefined;
  #chat: RawObject | undefined;
  #byFirst: ReadonlyMap<string, readonly number[]> | undefined;
  readonly #written = new WeakMap<RawObject, RawObject>();

  constructor(
    private readonly request: RawObject,
    private readonly dialect: Dialect,
    private readonly groups: readonly Group[],
    private readonly read: ReadBody,
  ) {
    this.#head = headMessage(request, dialect);
  }

  // Written only where a conversation is looked for.
  get chat(): RawObject {
    if (this.#chat === undefined) {
      this.#chat = this.read(Buffer.from(this.#text()));
      this.#written.set(this.#chat, this.request);
    }
    return this.#chat;
  }

  withMessagesOf(chat: RawObject): RawObject {
    const known = this.#written.get(chat);
    if (known !== undefined) return known;
    const made = this.#make(chat);
    this.#written.set(chat, made);
    return made;
  }

  #text(): string {
    const messages = this.groups.flatMap((group) => group.messages);
    const all = this.#head === undefined ? messages : [this.#head, ...messages];
    const model = this.request.text('model');
    return `{${model === undefined ? '' : `"model":${model},`}"messages":[${all.join(',')}]}`;
  }

  #make(chat: RawObject): RawObject {
    const span = chat.member('messages')?.value;
    const spans = span === undefined ? [] : arrayElements(chat.bytes, span);
    const texts = spans.map(({ start, end }) => chat.bytes.toString('utf8', start, end));
    const { list, head } = this.dialect;
    const keepsHead = this.#head !== undefined && texts[0] === this.#head;
    const elements = this.#elements(keepsHead ? texts.slice(1) : texts);
    const set = new Map<string, string | Buffer>([[list, joined(elements)]]);
    const drop = this.#head === undefined || keepsHead ? undefined : new Set([head]);
    return this.read(editObject(this.request, { set, drop }));
  }

  /** What the client sent keeps its bytes; runs of all else are written. */
  #elements(texts: readonly string[]): (string | Buffer)[] {
    const elements: (string | Buffer)[] = [];
    let unwritten: unknown[] = [];
    const write = (): void => {
      elements.push(...this.dialect.write(unwritten));
      unwritten = [];
    };
    let next = 0;
    for (let at = 0; at < texts.length; ) {
      const found = this.#groupAt(texts, at, next);
      const group = found === undefined ? undefined : this.groups[found];
      if (found === undefined || group === undefined) {
        unwritten.push(JSON.parse(texts[at] as string));
        at += 1;
        continue;
      }
      write();
      elements.push(group.original);
      next = found + 1;
      at += group.messages.length;
    }
    write();
    return elements;
  }

  /** The first of the groups from `next` on that reads as what stands there. */
  #groupAt(texts: readonly string[], at: number, next: number): number | undefined {
    this.#byFirst ??= byFirstMessage(this.groups);
    const candidates = this.#byFirst.get(texts[at] as string) ?? [];
    return candidates.find((i) => {
      const { messages } = this.groups[i] as Group;
      return i >= next && messages.every((message, j) => texts[at + j] === message);
    });
  }
}

const COMMA = Buffer.from(',');

function byFirstMessage(groups: readonly Group[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  groups.forEach(({ messages: [first] }, i) => {
    if (first === undefined) return;
    const known = places.get(first);
    if (known === undefined) places.set(first, [i]);
    else known.push(i);
  });
  return places;
}

/** What a chat has as its first system message. */
function headMessage(request: RawObject, { head }: Dialect): string | undefined {
  const text = request.text(head);
  return text === undefined || text === 'null' ? undefined : `{"role":"system","content":${text}}`;
}

function joined(elements: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('[')];
  elements.forEach((element, i) => {
    if (i > 0) parts.push(COMMA);
    parts.push(typeof element === 'string' ? Buffer.from(element) : element);
  });
  parts.push(Buffer.from(']'));
  return Buffer.concat(parts);
}
