import type { Template } from '@huggingface/jinja';
import { stringRepr } from './python-value.js';

/** The function that templates print their values through. */
export const printerName = '__printed';

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const printable = new Set(['Identifier', 'MemberExpression']);
const blocks = ['body', 'alternate', 'defaultBlock'] as const;

/**
 * Makes a compiled template print plain values as Python does (`None`, `True`, a dict's `repr`):
 * what stands between braces alone goes through a function.
 */
export function printLikePython(template: Template): void {
  rewrite(template.parsed as unknown as Record<string, unknown>);
}

function rewrite(node: Record<string, unknown>): void {
  for (const name of blocks) {
    const block = node[name];
    if (!Array.isArray(block)) continue;
    node[name] = (block as Node[]).map((child) => {
      if (printable.has(child.type)) return printed(child);
      rewrite(child as Record<string, unknown>);
      return child;
    });
  }
}

function printed(expression: Node): Node {
  // A function sees neither none nor undefined as such, so it is told which of the two it got.
  const isNone = { type: 'TestExpression', operand: expression, negate: false, test: identifier('none') };
  return { type: 'CallExpression', callee: identifier(printerName), args: [expression, isNone] };
}

function identifier(value: string): Node {
  return { type: 'Identifier', value };
}

/** Jinja's own values wrap their content in `value`, all the way down. */
export function printer(value: unknown, isNone: unknown): string {
  if (isNone === true) return 'None';
  if (value === undefined) return '';
  return typeof value === 'string' ? value : repr(value);
}

function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return stringRepr(value);
  if (Array.isArray(value)) return `[${value.map((item) => repr(unwrapped(item))).join(', ')}]`;
  if (value instanceof Map) {
    const members = [...value].map(([key, item]) => `${stringRepr(String(key))}: ${repr(unwrapped(item))}`);
    return `{${members.join(', ')}}`;
  }
  return String(value);
}

function unwrapped(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'value' in item ? item.value : item;
}
