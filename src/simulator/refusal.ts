import type { VllmVersion } from './version.js';

/** An answer that is no result: thrown anywhere below a route, written by the server. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
    readonly contentType = 'application/json',
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(body);
    this.name = 'Refusal';
  }
}

interface OpenAiProblem {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: number;
}

/** vLLM's error object, members in its order. */
export function openAiRefusal(problem: OpenAiProblem): Refusal {
  const { message, type, param, code } = problem;
  return new Refusal(code, JSON.stringify({ error: { message, type, param, code } }));
}

export function badRequest(message: string, param: string | null = null): Refusal {
  return openAiRefusal({ message, type: 'BadRequestError', param, code: 400 });
}

/** An error that rose from the template or the tokenizer. `/tokenize` of 0.16 adds its cause, mostly none. */
export class ErrorBelow extends Refusal {
  constructor(
    readonly text: string,
    readonly because = 'None',
  ) {
    super(400, badRequest(text).body);
    this.name = 'ErrorBelow';
  }

  withCause(): Refusal {
    return badRequest(`${this.text} ${this.because}`);
  }
}

/** A part of a message that 0.16 cannot read: `/tokenize` answers it as a success. */
export class UnreadPart extends Refusal {
  constructor(type: string) {
    super(400, badRequest(`Unknown part type: ${type}`).body);
    this.name = 'UnreadPart';
  }

  asSuccess(): Refusal {
    return new Refusal(200, this.body);
  }
}

/** A value that a parameter may not have; the message names both. */
export function badParameter(message: string, param: string, value?: string | number): Refusal {
  const details = value === undefined ? `parameter=${param}` : `parameter=${param}, value=${value}`;
  return badRequest(`${message} (${details})`, param);
}

export function modelNotFound(name: string, aliases: readonly string[], vllm: VllmVersion): Refusal {
  const known = vllm === '0.16' ? '' : ` Valid aliases: ${aliases.join(', ')}.`;
  return openAiRefusal({
    message: `The model \`${name}\` does not exist.${known}`,
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  });
}

/** The web framework's own short answers. */
export function detail(status: number, text: string): Refusal {
  return new Refusal(status, JSON.stringify({ detail: text }));
}

export function methodNotAllowed(allowed: readonly string[]): Refusal {
  return new Refusal(405, '{"detail":"Method Not Allowed"}', 'application/json', {
    allow: allowed.join(', '),
  });
}

export const unauthorized = (): Refusal => new Refusal(401, '{"error":"Unauthorized"}');

export const scaleOutDisabled = (): Refusal =>
  openAiRefusal({
    message: 'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.',
    type: 'PermissionDeniedError',
    param: null,
    code: 403,
  });

export const internalServerError = (): Refusal =>
  new Refusal(500, 'Internal Server Error', 'text/plain; charset=utf-8');
