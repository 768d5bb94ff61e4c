import { readBoolean } from './coercion.js';
import { type Handler, validationRefusal, valueIssue } from './issue.js';
import { isDict, type PythonDict } from './python-value.js';
import { badParameter } from './refusal.js';
import type { VllmVersion } from './version.js';

/** How an answer is to be streamed. */
export interface StreamOptions {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
}

/** @throws Refusal for options of a stream that is none */
export function readStreamOptions(request: PythonDict, vllm: VllmVersion, handler: Handler): StreamOptions {
  const stream = readBoolean(request.get('stream')) ?? false;
  const given = request.get('stream_options');
  if (isDict(given) && given.size > 0 && !stream) refuse(request, vllm, handler);
  const options: PythonDict = isDict(given) ? given : new Map();
  // Where options are given, 0.16 takes this one for granted.
  const isTaken = vllm === '0.16' && isDict(given) && !given.has('include_usage');
  const includeUsage = isTaken || (readBoolean(options.get('include_usage')) ?? false);
  return {
    stream,
    includeUsage,
    continuousUsage: includeUsage && (readBoolean(options.get('continuous_usage_stats')) ?? false),
  };
}

function refuse(request: PythonDict, vllm: VllmVersion, handler: Handler): never {
  const message = 'Stream options can only be defined when `stream=True`.';
  if (vllm === '0.32') throw badParameter(message, 'stream_options');
  throw validationRefusal([valueIssue(message, request)], vllm, handler);
}
