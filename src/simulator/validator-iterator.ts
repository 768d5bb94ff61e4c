import type { Check, Issue } from './issue.js';
import { isDict, PythonNumber, type PythonValue, pythonRepr } from './python-value.js';

/** One of the kinds that an item may be of; without a name where there is only one. */
export interface ItemKind {
  readonly name?: string;
  readonly check: Check;
}

/** What pydantic finds in a list that it looks at while it is read: it stops at the first item of no kind. */
export function firstMisfit(items: readonly PythonValue[], kinds: readonly ItemKind[]): readonly Issue[] {
  for (const [index, item] of items.entries()) {
    const found = kinds.map(({ name, check }) => {
      const issues: Issue[] = [];
      check(item, name === undefined ? [index] : [index, name], issues);
      return issues;
    });
    if (found.every((issues) => issues.length > 0)) return found.flat();
  }
  return [];
}

/** The same in pydantic's own words. */
export function iteratorReport(issues: readonly Issue[]): string {
  const lines = issues.map(
    (issue) =>
      `${issue.place.join('.')}\n  ${issue.message} [type=${issue.type}, input_value=${shortRepr(issue.input)}, input_type=${typeName(issue.input)}]\n    For further information visit https://errors.pydantic.dev/2.14/v/${issue.type}`,
  );
  return `${issues.length} validation error${issues.length === 1 ? '' : 's'} for ValidatorIterator\n${lines.join('\n')}`;
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
