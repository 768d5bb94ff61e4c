import { readBoolean } from './coercion.js';
import type { Check } from './issue.js';
import { isDict, isList, type PythonDict, PythonNumber, pythonRepr } from './python-value.js';

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

export const dictionary: Check = (value, place, issues) => {
  if (isDict(value)) return;
  const message = 'Input should be a valid dictionary';
  issues.push({ type: 'dict_type', place, message, input: value ?? null });
};

/** An integer that is not below the least. */
export function atLeast(least: number): Check {
  return (value, place, issues) => {
    integer(value, place, issues);
    if (!(value instanceof PythonNumber) || !(value.value < least)) return;
    const message = `Input should be greater than or equal to ${least}`;
    issues.push({
      type: 'greater_than_equal',
      place,
      message,
      input: value,
      context: `{'ge': ${least}}`,
    });
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
