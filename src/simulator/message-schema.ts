import { list, literal, optional, required, string } from './checks.js';
import { Branch, type Check, type Issue, type Place } from './issue.js';
import {
  isDict,
  isList,
  type PythonDict,
  PythonNumber,
  type PythonValue,
  pythonRepr,
} from './python-value.js';

/** A kind of message: its members in pydantic's order. */
interface MessageKind {
  readonly name: string;
  readonly members: (message: PythonDict) => readonly (readonly [string, Check])[];
}

const textPart = 'ChatCompletionContentPartTextParam';
const userParts = [
  textPart,
  'ChatCompletionContentPartImageParam',
  'ChatCompletionContentPartInputAudioParam',
  'File',
];
const customParts = [
  ...userParts,
  'ChatCompletionContentPartAudioParam',
  'ChatCompletionContentPartVideoParam',
  'ChatCompletionContentPartRefusalParam',
  'CustomChatCompletionContentPILImageParam',
  'CustomChatCompletionContentSimpleImageParam',
  'ChatCompletionContentPartImageEmbedsParam',
  'ChatCompletionContentPartAudioEmbedsParam',
  'CustomChatCompletionContentSimpleAudioParam',
  'CustomChatCompletionContentSimpleVideoParam',
  'str',
  'CustomThinkCompletionContentParam',
];

const iterable: Check = (value, place, issues) => {
  if (isList(value) || isDict(value)) return;
  issues.push({ type: 'iterable_type', place, message: 'Input should be iterable', input: value ?? null });
};

const calls: Check = (value, place, issues) => {
  if (isList(value)) return;
  issues.push({ type: 'iterable_type', place, message: 'Input should be iterable', input: value ?? null });
};

/** Text, or parts, which are looked at only when they are read. */
function textOrParts(branch: string, parts: Check = iterable): Check {
  return (value, place, issues) => {
    if (typeof value === 'string' || isList(value) || (isDict(value) && parts === iterable)) return;
    string(value, [...place, new Branch('str')], issues);
    parts(value, [...place, new Branch(branch)], issues);
  };
}

const plainContent = textOrParts(`generator[${textPart}]`);
const userContent = textOrParts(`generator[union[${userParts.join(',')}]]`);
const customContent = textOrParts(`list[union[${customParts.join(',')}]]`, list());
const anything: Check = () => {};

const kinds: readonly MessageKind[] = [
  { name: 'ChatCompletionDeveloperMessageParam', members: spoken('developer', plainContent) },
  { name: 'ChatCompletionSystemMessageParam', members: spoken('system', plainContent) },
  { name: 'ChatCompletionUserMessageParam', members: spoken('user', userContent) },
  {
    name: 'ChatCompletionAssistantMessageParam',
    members: (message) => [
      ['role', required(message, literal('assistant'))],
      ['content', optional(plainContent)],
      ['tool_calls', optional(calls)],
    ],
  },
  {
    name: 'ChatCompletionToolMessageParam',
    members: (message) => [
      ['content', required(message, plainContent)],
      ['role', required(message, literal('tool'))],
      ['tool_call_id', required(message, string)],
    ],
  },
  {
    name: 'ChatCompletionFunctionMessageParam',
    members: (message) => [
      ['content', required(message, optional(string))],
      ['name', required(message, string)],
      ['role', required(message, literal('function'))],
    ],
  },
  {
    name: 'CustomChatCompletionMessageParam',
    members: (message) => [
      ['role', required(message, string)],
      [
        'content',
        (value, place, issues) => void (value !== undefined && customContent(value, place, issues)),
      ],
      ['tool_calls', optional(calls)],
    ],
  },
  {
    name: 'Message',
    members: (message) => [
      ['author', required(message, anything)],
      ['content', required(message, list())],
    ],
  },
];

function spoken(role: string, content: Check): MessageKind['members'] {
  return (message) => [
    ['content', required(message, content)],
    ['role', required(message, literal(role))],
  ];
}

/** The list of messages; a message that fits no kind is reported once for each. */
export const messagesCheck: Check = (value, place, allIssues) => {
  if (!isList(value)) return list()(value, place, allIssues);
  for (const [index, message] of value.entries()) {
    const issues = firstFit(message, [...place, index]);
    if (issues !== null) allIssues.push(...issues);
  }
};

/** Null for a message that fits a kind, else what speaks against each. */
function firstFit(message: PythonValue, place: Place): Issue[] | null {
  const against: Issue[] = [];
  for (const kind of kinds) {
    const issues = kindIssues(kind, message, place);
    if (issues.length === 0) return null;
    against.push(...issues);
  }
  return against;
}

function kindIssues(kind: MessageKind, message: PythonValue, place: Place): Issue[] {
  const issues: Issue[] = [];
  const here = [...place, kind.name];
  if (isDict(message)) {
    for (const [name, check] of kind.members(message)) check(message.get(name), [...here, name], issues);
  } else if (kind.name === 'Message') {
    issues.push({ type: 'model_attributes_type', place: here, message: notAnObject, input: message });
  } else {
    issues.push({
      type: 'dict_type',
      place: here,
      message: 'Input should be a valid dictionary',
      input: message,
    });
  }
  return issues;
}

const notAnObject = 'Input should be a valid dictionary or object to extract fields from';

const partMembers: readonly (readonly [string, string, string])[] = [
  [textPart, 'text', 'text'],
  ['ChatCompletionContentPartImageParam', 'image_url', 'image_url'],
  ['ChatCompletionContentPartInputAudioParam', 'input_audio', 'input_audio'],
  ['File', 'file', 'file'],
];

/** What reading the parts of a user message complains of; null when all are known. */
export function partsProblem(parts: readonly PythonValue[]): string | null {
  const issues: Issue[] = [];
  for (const [index, part] of parts.entries()) {
    const found = partMembers.map(([name, member, type]) => partIssues(part, name, member, type, index));
    if (found.every((ofKind) => ofKind.length > 0)) issues.push(...found.flat());
  }
  if (issues.length === 0) return null;
  const lines = issues.map(
    (issue) =>
      `${issue.place.join('.')}\n  ${issue.message} [type=${issue.type}, input_value=${shortRepr(issue.input)}, input_type=${typeName(issue.input)}]\n    For further information visit https://errors.pydantic.dev/2.14/v/${issue.type}`,
  );
  return `${issues.length} validation error${issues.length === 1 ? '' : 's'} for ValidatorIterator\n${lines.join('\n')}`;
}

function partIssues(part: PythonValue, name: string, member: string, type: string, index: number): Issue[] {
  const issues: Issue[] = [];
  const place = [index, name];
  if (!isDict(part)) {
    return [{ type: 'dict_type', place, message: 'Input should be a valid dictionary', input: part }];
  }
  required(part, member === 'text' ? string : anything)(part.get(member), [...place, member], issues);
  required(part, literal(type))(part.get('type'), [...place, 'type'], issues);
  return issues;
}

function shortRepr(value: PythonValue): string {
  const text = pythonRepr(value);
  return text.length > 50 ? `${text.slice(0, 25)}...${text.slice(-24)}` : text;
}

function typeName(value: PythonValue): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (value instanceof PythonNumber) return value.kind;
  return isDict(value) ? 'dict' : 'list';
}
