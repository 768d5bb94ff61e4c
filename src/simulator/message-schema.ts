import { list, literal, optional, required, string } from './checks.js';
import { Branch, type Check, type Issue, type Place } from './issue.js';
import { isDict, isList, type PythonDict, type PythonValue } from './python-value.js';

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
