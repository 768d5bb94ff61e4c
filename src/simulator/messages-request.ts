import { atLeast, dictionary, integer, list, literal, optional, required, string } from './checks.js';
import { readInteger } from './coercion.js';
import { type Check, type Handler, type Issue, validationRefusal, valueIssue } from './issue.js';
import { isDict, type PythonDict } from './python-value.js';
import type { VllmVersion } from './version.js';

export const messagesHandler: Handler = { line: 34, name: 'create_messages', route: 'POST /v1/messages' };

/** Which of the two asks: only a generation has a cap. */
export type MessagesKind = 'generation' | 'count';

/** Looks at a request in the form of Anthropic. @throws Refusal in the shape of OpenAI, as the server does */
export function checkMessages(request: PythonDict, kind: MessagesKind, vllm: VllmVersion): void {
  const issues: Issue[] = [];
  for (const [name, check] of members(request, kind, vllm)) check(request.get(name), ['body', name], issues);
  if (issues.length === 0 && kind === 'generation' && vllm === '0.32') checkThinkingBudget(request, issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, messagesHandler);
}

function members(request: PythonDict, kind: MessagesKind, vllm: VllmVersion): readonly [string, Check][] {
  const shared: [string, Check][] = [
    ['model', required(request, string)],
    ['messages', required(request, list(messageOf(vllm)))],
    ['tool_choice', optional(toolChoice)],
    ['tools', optional(list())],
  ];
  if (vllm === '0.32') shared.push(['thinking', optional(thinking)]);
  return kind === 'count' ? shared : [...shared, ['max_tokens', required(request, positive)]];
}

function messageOf(vllm: VllmVersion): Check {
  const role = literal('user', 'assistant', ...(vllm === '0.32' ? ['system'] : []));
  return (value, place, issues) => {
    if (!isDict(value)) return dictionary(value, place, issues);
    required(value, role)(value.get('role'), [...place, 'role'], issues);
    required(value, content)(value.get('content'), [...place, 'content'], issues);
  };
}

const content: Check = (value, place, issues) => {
  if (typeof value !== 'string') list(dictionary)(value, place, issues);
};

const positive: Check = (value, place, issues) => {
  const before = issues.length;
  integer(value, place, issues);
  if (issues.length > before || (readInteger(value) ?? 1) > 0) return;
  issues.push({ ...valueError('max_tokens must be positive'), place, input: value ?? null });
};

const toolChoice: Check = (value, place, issues) => {
  if (!isDict(value)) return dictionary(value, place, issues);
  if (value.get('type') !== 'tool' || typeof value.get('name') === 'string') return;
  issues.push({ ...valueError("tool_choice.name is required when type is 'tool'"), place, input: value });
};

const thinking: Check = (value, place, issues) => {
  if (!isDict(value) || value.get('type') !== 'enabled') return;
  const inside = [...place, 'enabled', 'budget_tokens'];
  required(value, atLeast(1024))(value.get('budget_tokens'), inside, issues);
};

function checkThinkingBudget(request: PythonDict, issues: Issue[]): void {
  const given = request.get('thinking');
  const budget = isDict(given) && given.get('type') === 'enabled' ? given.get('budget_tokens') : undefined;
  if ((readInteger(budget) ?? 0) < (readInteger(request.get('max_tokens')) ?? 0)) return;
  issues.push(valueIssue('thinking.budget_tokens must be less than max_tokens', request));
}

function valueError(message: string): Pick<Issue, 'type' | 'message' | 'context'> {
  const quote = message.includes("'") ? '"' : "'";
  return {
    type: 'value_error',
    message: `Value error, ${message}`,
    context: `{'error': ValueError(${quote}${message}${quote})}`,
  };
}
