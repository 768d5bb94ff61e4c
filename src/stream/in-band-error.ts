import { type ErrorFields, type ErrorShape, errorEvents } from './error-shape.js';

/** The upstream's refusal as events of a stream that has begun: its own error object where it has one. */
export function refusalInBand(status: number, body: Buffer, shape: ErrorShape): string {
  return errorEvents(status, errorOf(status, parsed(body)), shape);
}

function errorOf(status: number, answer: unknown): ErrorFields {
  const error = fieldOf(answer, 'error');
  const source = typeof error === 'object' && error !== null ? error : answer;
  const message = [fieldOf(source, 'message'), error, fieldOf(answer, 'detail')].find(isText);
  return {
    message: message ?? `the upstream answered ${status}`,
    type: fieldOf(source, 'type') ?? 'upstream_error',
    param: fieldOf(source, 'param') ?? null,
    code: fieldOf(source, 'code') ?? status,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
