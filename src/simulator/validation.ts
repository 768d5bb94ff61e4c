import {
  isDict,
  isList,
  type PythonDict,
  PythonNumber,
  type PythonValue,
  pythonRepr,
} from './python-value.js';
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

/** A member that must be there. `owner` is shown as the input of its absence. */
export function required(owner: PythonDict, check: Check): Check {
  return (value, place, issues) => {
    if (value === undefined) issues.push({ type: 'missing', place, message: 'Field required', input: owner });
    else check(value, place, issues);
  };
}

export function optional(check: Check): Check {
  return (value, place, issues) => {
    if (value !== undefined && value !== null) check(value, place, issues);
  };
}

export const integer: Check = (value, place, issues) => {
  const input = value ?? null;
  if (typeof input === 'boolean') return;
  if (input instanceof PythonNumber) {
    if (input.kind === 'float' && !Number.isInteger(input.value)) {
      issues.push({ type: 'int_from_float', place, message: fractional, input });
    }
    return;
  }
  if (typeof input === 'string') {
    if (/^\s*[-+]?\d+(\.0*)?\s*$/.test(input)) return;
    issues.push({ type: 'int_parsing', place, message: notAnInteger, input });
    return;
  }
  issues.push({ type: 'int_type', place, message: 'Input should be a valid integer', input });
};

const fractional = 'Input should be a valid integer, got a number with a fractional part';
const notAnInteger = 'Input should be a valid integer, unable to parse string as an integer';
const notANumber = 'Input should be a valid number, unable to parse string as a number';
const notABoolean = 'Input should be a valid boolean, unable to interpret input';

export const float: Check = (value, place, issues) => {
  const input = value ?? null;
  if (typeof input === 'boolean' || input instanceof PythonNumber) return;
  if (typeof input === 'string') {
    if (/^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/.test(input)) return;
    issues.push({ type: 'float_parsing', place, message: notANumber, input });
    return;
  }
  issues.push({ type: 'float_type', place, message: 'Input should be a valid number', input });
};

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  '1': true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  '0': false,
};

export const boolean: Check = (value, place, issues) => {
  const input = value ?? null;
  if (readBoolean(input) !== undefined) return;
  const isWord = typeof input === 'string' || input instanceof PythonNumber;
  issues.push(
    isWord
      ? { type: 'bool_parsing', place, message: notABoolean, input }
      : { type: 'bool_type', place, message: 'Input should be a valid boolean', input },
  );
};

export const string: Check = (value, place, issues) => {
  if (typeof value === 'string') return;
  issues.push({
    type: 'string_type',
    place,
    message: 'Input should be a valid string',
    input: value ?? null,
  });
};

/** A list, whose items may be looked at too. */
export function list(item: Check = () => {}): Check {
  return (value, place, issues) => {
    if (!isList(value)) {
      issues.push({
        type: 'list_type',
        place,
        message: 'Input should be a valid list',
        input: value ?? null,
      });
      return;
    }
    for (const [index, one] of value.entries()) item(one, [...place, index], issues);
  };
}

/** A tool of a chat request. */
export const tool: Check = (value, place, issues) => {
  if (!isDict(value)) {
    const message = 'Input should be a valid dictionary or object to extract fields from';
    issues.push({ type: 'model_attributes_type', place, message, input: value ?? null });
    return;
  }
  const type = value.get('type');
  if (type !== undefined) literal('function')(type, [...place, 'type'], issues);
  required(value, () => {})(value.get('function'), [...place, 'function'], issues);
};

export function literal(...values: readonly string[]): Check {
  const expected = alternatives(values);
  return (value, place, issues) => {
    if (typeof value === 'string' && values.includes(value)) return;
    issues.push({
      type: 'literal_error',
      place,
      message: `Input should be ${expected}`,
      input: value ?? null,
      context: `{'expected': ${pythonRepr(expected)}}`,
    });
  };
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** An integer as pydantic coerces it, after `integer` found nothing; undefined for an absent one. */
export function readInteger(value: PythonValue | undefined): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof PythonNumber) return value.value;
  return typeof value === 'string' ? Math.trunc(Number(value)) : undefined;
}

export function readFloat(value: PythonValue | undefined): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof PythonNumber) return value.value;
  return typeof value === 'string' ? Number(value) : undefined;
}

export function readBoolean(value: PythonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value instanceof PythonNumber) {
    return value.value === 0 || value.value === 1 ? value.value === 1 : undefined;
  }
  return typeof value === 'string' ? truths[value.trim().toLowerCase()] : undefined;
}

/** How an answer is to be streamed. */
export interface StreamOptions {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
}

export function readStreamOptions(request: PythonDict): StreamOptions {
  const given = request.get('stream_options');
  const options: PythonDict = isDict(given) ? given : new Map();
  const includeUsage = readBoolean(options.get('include_usage')) ?? false;
  return {
    stream: readBoolean(request.get('stream')) ?? false,
    includeUsage,
    continuousUsage: includeUsage && (readBoolean(options.get('continuous_usage_stats')) ?? false),
  };
}
