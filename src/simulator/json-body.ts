import type { Call } from './call.js';
import { type Handler, type Issue, validationRefusal } from './issue.js';
import { JsonDecodeError, JsonRecursionError, parsePythonJson } from './python-json.js';
import { isDict, type PythonDict, type PythonValue } from './python-value.js';
import { detail, internalServerError, openAiRefusal } from './refusal.js';
import type { VllmVersion } from './version.js';

const notJsonType = "Unsupported Media Type: Only 'application/json' is allowed";

/**
 * The body as a JSON object.
 * @param places how often an object is asked for: a union of two models reports twice
 * @throws Refusal for another content type, malformed JSON, or JSON that is no object
 */
export function readJsonObject(call: Call, vllm: VllmVersion, handler: Handler, places = 1): PythonDict {
  const mediaType = (call.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') throw unsupportedMediaType(vllm);
  const value = parseBody(call.body, vllm, handler);
  if (isDict(value)) return value;
  if (vllm === '0.16') throw internalServerError();
  const issue: Issue = {
    type: 'model_attributes_type',
    place: ['body'],
    message: 'Input should be a valid dictionary or object to extract fields from',
    input: value,
  };
  throw validationRefusal(
    Array.from({ length: places }, () => issue),
    vllm,
    handler,
  );
}

function parseBody(body: Buffer, vllm: VllmVersion, handler: Handler): PythonValue {
  try {
    return parsePythonJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    if (error instanceof JsonDecodeError) throw validationRefusal([decodeIssue(error)], vllm, handler);
    if (error instanceof JsonRecursionError || error instanceof TypeError) {
      throw detail(400, 'There was an error parsing the body');
    }
    throw error;
  }
}

function decodeIssue(error: JsonDecodeError): Issue {
  return {
    type: 'json_invalid',
    place: ['body', error.position],
    message: 'JSON decode error',
    input: new Map(),
    context: `{'error': '${error.reason.replaceAll("'", "\\'")}'}`,
  };
}

function unsupportedMediaType(vllm: VllmVersion): Error {
  const repeated = vllm === '0.16' ? ` ["${notJsonType}"]` : '';
  return openAiRefusal({
    message: `1 validation error:\n  ${notJsonType}${repeated}`,
    type: 'Bad Request',
    param: null,
    code: 400,
  });
}
