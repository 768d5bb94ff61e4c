import type { Message } from '../conversation/message.js';

/** A conversation that engines have to cope with. */
export interface Transcript {
  readonly what: string;
  /** Fresh objects at every call. */
  messages(): Message[];
}

const HEAD: Message = { role: 'system', content: 'You are a careful assistant. Answer in whole sentences.' };
const TALK =
  'We looked at the report of last week and found that the numbers of the second table do not add up, because one ' +
  'column was counted twice; the third table is right, and so is the summary on the first page of the report.';

/** Of every shape that clients send: all are valid, and end in a user message or in what follows one. */
export const TRANSCRIPTS: readonly Transcript[] = [
  transcript('one message', () => [user('hello')]),
  transcript('one turn', () => [HEAD, user('hello'), assistant('Hello. How can I help?'), user('bye')]),
  transcript('a long conversation', () => [HEAD, ...turns(60), user('And what about the fourth table?')]),
  transcript('a long conversation without a system message', () => [...turns(60), user('Go on.')]),
  transcript('tool groups', () => [HEAD, ...times(40, (n) => asked(n, [`call_${n}`])), user('Go on.')]),
  transcript('parallel calls', () => [
    HEAD,
    ...times(20, (n) => asked(n, [`a_${n}`, `b_${n}`, `c_${n}`])),
    user('Go on.'),
  ]),
  transcript('call ids that are used again', () => [
    HEAD,
    ...times(40, (n) => asked(n, [n % 2 === 0 ? 'call_same' : 'call_other'])),
    user('Go on.'),
  ]),
  transcript('contents in parts', () => [HEAD, ...times(40, partsTurn), user('Go on.')]),
  transcript('a developer message and names', () => [
    HEAD,
    { role: 'developer', content: 'Be brief.' },
    ...turns(40).map((message) => ({ ...message, name: 'someone' })),
    user('Go on.'),
  ]),
  transcript('one long turn', () => [
    HEAD,
    user('Read all the files and tell me what is in them.'),
    ...times(40, (n) => group([`call_${n}`])),
  ]),
  transcript('a long answer to the last question', () => [
    HEAD,
    ...turns(40),
    user('Look it up.'),
    ...group(['call_x', 'call_y']),
  ]),
];

function transcript(what: string, build: () => Message[]): Transcript {
  return { what, messages: () => structuredClone(build()).map(stamped) };
}

/** As the host stamps them; the newest has none yet, as before its first insert. */
function stamped(message: Message, index: number, all: readonly Message[]): Message {
  if (index === all.length - 1) return message;
  return { ...message, message_uid: index.toString(16).padStart(32, '0') };
}

function times(count: number, build: (n: number) => Message[]): Message[] {
  return Array.from({ length: count }, (_, n) => build(n)).flat();
}

function turns(count: number): Message[] {
  return times(count, (n) => [user(`Question ${n}: ${TALK}`), assistant(`Answer ${n}: ${TALK}`)]);
}

function partsTurn(n: number): Message[] {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  return [
    { role: 'user', content: [{ type: 'text', text: `Question ${n}: ${TALK}` }, image] },
    { role: 'assistant', content: [{ type: 'text', text: TALK }] },
  ];
}

function asked(n: number, ids: readonly string[]): Message[] {
  return [user(`Question ${n}: ${TALK}`), ...group(ids), assistant(`Answer ${n}: ${TALK}`)];
}

/** An assistant without a text that calls tools, and their results. */
function group(ids: readonly string[]): Message[] {
  const tool_calls = ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'read_file', arguments: '{"path": "report.md"}' },
  }));
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: TALK }));
  return [{ role: 'assistant', content: null, tool_calls }, ...results];
}

function user(content: string): Message {
  return { role: 'user', content };
}

function assistant(content: string): Message {
  return { role: 'assistant', content };
}
