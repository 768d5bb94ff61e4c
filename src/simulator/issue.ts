import { isDict, isList, type PythonDict, type PythonValue, pythonRepr } from './python-value.js';
import { openAiRefusal, type Refusal } from './refusal.js';
import type { VllmVersion } from './version.js';

/** Where a value stands; a `Branch` names an alternative that 0.32 leaves out of the path. */
export type Place = readonly (string | number | Branch)[];

export class Branch {
  constructor(readonly name: string) {}
}

/** One finding of request validation, in pydantic's terms. */
export interface Issue {
  readonly type: string;
  readonly place: Place;
  readonly message: string;
  readonly input: PythonValue;
  /** The context as Python prints it, if there is one. */
  readonly context?: string;
}

/** Looks at a value and reports; `undefined` is a member that is not there. */
export type Check = (value: PythonValue | undefined, place: Place, issues: Issue[]) => void;

/** The handler that a message of 0.16 names. */
export interface Handler {
  readonly line: number;
  readonly name: string;
  readonly route: string;
}

const shownIssues = 10;

export function validationRefusal(issues: readonly Issue[], vllm: VllmVersion, handler: Handler): Refusal {
  const title = `${issues.length} validation error${issues.length === 1 ? '' : 's'}:`;
  if (vllm === '0.16') {
    const shown = issues.map(oldIssue);
    const message = `${title}\n${shown.map((text) => `  ${text}`).join('\n')}\n\n  File "/opt/venv/lib/python3.11/site-packages/vllm/entrypoints/utils.py", line ${handler.line}, in ${handler.name}\n    ${handler.route} [${shown.join(', ')}]`;
    return openAiRefusal({ message, type: 'Bad Request', param: null, code: 400 });
  }
  const shown = issues.slice(0, shownIssues).map((issue) => `  ${newIssue(issue)}`);
  if (issues.length > shownIssues) shown.push(`  ...and ${issues.length - shownIssues} more errors`);
  const first = issues[0];
  return openAiRefusal({
    message: `${title}\n${shown.join('\n')}`,
    type: 'Bad Request',
    param: first === undefined ? null : dotted(first.place),
    code: 400,
  });
}

function oldIssue(issue: Issue): string {
  const names = issue.place.map((step) => {
    if (typeof step === 'number') return String(step);
    return pythonRepr(step instanceof Branch ? step.name : step);
  });
  const place = `(${names.join(', ')}${names.length === 1 ? ',' : ''})`;
  return describe(issue, place, pythonRepr(issue.input));
}

function newIssue(issue: Issue): string {
  return describe(issue, pythonRepr(dotted(issue.place)), pythonRepr(summary(issue.input)));
}

function describe(issue: Issue, place: string, input: string): string {
  const context = issue.context === undefined ? '' : `, 'ctx': ${issue.context}`;
  return `{'type': ${pythonRepr(issue.type)}, 'loc': ${place}, 'msg': ${pythonRepr(issue.message)}, 'input': ${input}${context}}`;
}

function dotted(place: Place): string {
  return place.filter((step) => !(step instanceof Branch)).join('.');
}

function summary(input: PythonValue): string {
  if (isDict(input)) return `<dict of ${input.size} items>`;
  if (isList(input)) return `<list of ${input.length} items>`;
  return typeof input === 'string' ? input : pythonRepr(input);
}

/** A finding of a validator that looks at the whole request. */
export function valueIssue(message: string, request: PythonDict): Issue {
  return {
    type: 'value_error',
    place: ['body'],
    message: `Value error, ${message}`,
    input: request,
    context: `{'error': ValueError('${message}')}`,
  };
}
