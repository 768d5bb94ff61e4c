const END = 'data: [DONE]\n\n';

/** An error for a client whose answer has begun as an event stream already, and the stream's end. */
export function inBandError(body: string): string {
  return `data: ${body}\n\n${END}`;
}

/** The upstream's refusal in the shape that clients of a stream know: its own error object where it has one. */
export function refusalInBand(status: number, body: Buffer): string {
  return inBandError(JSON.stringify({ error: errorOf(status, parsed(body)) }));
}

function errorOf(status: number, answer: unknown): Record<string, unknown> {
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
