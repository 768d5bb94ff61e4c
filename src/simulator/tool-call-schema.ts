import { dictionary, literal, required, string } from './checks.js';
import { Branch, type Check, type Issue } from './issue.js';
import { isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { firstMisfit, type ItemKind, iteratorReport } from './validator-iterator.js';

/** A call of one type, whose particulars stand in a member of the same name. */
function call(type: string, members: readonly string[]): Check {
  return (value, place, issues) => {
    if (!isDict(value)) return dictionary(value, place, issues);
    required(value, string)(value.get('id'), [...place, 'id'], issues);
    const particulars: Check = (given, where) => {
      if (!isDict(given)) return dictionary(given, where, issues);
      for (const member of members) {
        required(given, string)(given.get(member), [...where, member], issues);
      }
    };
    required(value, particulars)(value.get(type), [...place, type], issues);
    required(value, literal(type))(value.get('type'), [...place, 'type'], issues);
  };
}

const kinds: readonly ItemKind[] = [
  { name: 'ChatCompletionMessageFunctionToolCallParam', check: call('function', ['arguments', 'name']) },
  { name: 'ChatCompletionMessageCustomToolCallParam', check: call('custom', ['input', 'name']) },
];

/** What the server says of the calls of an assistant's message; null where they are calls. */
export function callsProblem(message: PythonDict): string | null {
  const misfit = misfitOf(message);
  return misfit.length === 0 ? null : iteratorReport(misfit);
}

/** The findings in the messages of a chat request to 0.32, which looks at calls before it reads the rest. */
export function callIssues(messages: PythonValue | undefined): readonly Issue[] {
  for (const message of isList(messages) ? messages : []) {
    const misfit = isDict(message) ? misfitOf(message) : [];
    if (misfit.length > 0) return misfit.map(inBody);
  }
  return [];
}

function misfitOf(message: PythonDict): readonly Issue[] {
  const calls = message.get('tool_calls');
  return message.get('role') === 'assistant' && isList(calls) ? firstMisfit(calls, kinds) : [];
}

/** 0.32 shows no more than four steps of a place. */
function inBody(issue: Issue): Issue {
  const [index, name = '', ...rest] = issue.place;
  const shown = rest.slice(0, 1).map((step) => (step instanceof Branch ? step.name : step));
  return { ...issue, place: ['body', Number(index), name, ...shown] };
}
