import { PythonNumber, type PythonValue } from './python-value.js';

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

/** An integer as pydantic coerces it, after `integer` found nothing; undefined for an absent one. */
export function readInteger(value: PythonValue | undefined): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof PythonNumber) return value.value;
  return typeof value === 'string' ? Math.trunc(Number(value)) : undefined;
}

/** The same integer, every digit of it; the empty text for an absent one. */
export function integerText(value: PythonValue | undefined): string {
  if (value instanceof PythonNumber && value.kind === 'int') return value.text;
  const read = readInteger(value);
  if (typeof value === 'string') return BigInt(value.trim().replace(/^\+|\.0*$/g, '')).toString();
  return read === undefined ? '' : BigInt(read).toString();
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
