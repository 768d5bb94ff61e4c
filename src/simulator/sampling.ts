import { integerText, readFloat, readInteger } from './coercion.js';
import { isList, type PythonDict, PythonNumber, type PythonValue } from './python-value.js';
import { badParameter, badRequest } from './refusal.js';
import type { VllmVersion } from './version.js';

const mostLogprobs = 20;

/** Refuses sampling parameters that no server takes. @throws Refusal */
export function checkSampling(request: PythonDict, choices: number, vllm: VllmVersion): void {
  checkTemperature(request, vllm);
  checkChoices(request, choices, vllm);
  inRange(request, 'presence_penalty', -2, 2, 'in [-2, 2]');
  inRange(request, 'frequency_penalty', -2, 2, 'in [-2, 2]');
  inRange(request, 'top_p', Number.MIN_VALUE, 1, 'in (0, 1]');
  inRange(request, 'min_p', 0, 1, 'in [0, 1]');
  if ((readInteger(request.get('top_k')) ?? 0) < -1) {
    throw badRequest(`top_k must be 0 (disable), or at least 1, got ${integerText(request.get('top_k'))}.`);
  }
  if ((readInteger(request.get('min_tokens')) ?? 0) < 0) {
    const text = integerText(request.get('min_tokens'));
    throw badParameter(`min_tokens must be greater than or equal to 0, got ${text}.`, 'min_tokens', text);
  }
  if (readStop(request).includes('')) throw badRequest('stop cannot contain an empty string.');
  if (request.get('cache_salt') === '') {
    throw badRequest("Parameter 'cache_salt' must be a non-empty string if provided.");
  }
}

function checkTemperature(request: PythonDict, vllm: VllmVersion): void {
  const value = readFloat(request.get('temperature'));
  if (value === undefined) return;
  if (Number.isNaN(value) && vllm === '0.32') {
    throw badParameter('temperature must be a finite number, got nan.', 'temperature', 'nan');
  }
  const shown = floatText(request.get('temperature'));
  if (value < 0) throw badParameter(`temperature must be non-negative, got ${shown}.`, 'temperature', shown);
}

function checkChoices(request: PythonDict, choices: number, vllm: VllmVersion): void {
  const shown = integerText(request.get('n'));
  if (vllm === '0.32' && choices > 16_384) {
    throw badRequest(
      `n must be at most 16384, got ${shown}. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.`,
    );
  }
  if (choices < 1) throw badRequest(`n must be at least 1, got ${shown}.`);
  const isGreedy = readFloat(request.get('temperature')) === 0;
  if (isGreedy && choices > 1 && request.get('use_beam_search') !== true) {
    throw badRequest(`n must be 1 when using greedy sampling, got ${shown}.`);
  }
}

function inRange(request: PythonDict, name: string, least: number, most: number, range: string): void {
  const value = readFloat(request.get(name));
  if (value === undefined || (value >= least && value <= most)) return;
  const shown = floatText(request.get(name));
  throw badParameter(`${name} must be ${range}, got ${shown}.`, name, shown);
}

/** Refuses more alternatives than the server keeps. @throws Refusal */
export function checkLogprobs(wanted: number): void {
  if (wanted <= mostLogprobs) return;
  throw badParameter(
    `Requested sample logprobs of ${wanted}, which is greater than max allowed: ${mostLogprobs}`,
    'logprobs',
    wanted,
  );
}

/** As Python prints the float that it reads. */
function floatText(value: PythonValue | undefined): string {
  if (value instanceof PythonNumber) return new PythonNumber('float', value.text).text;
  return new PythonNumber('float', String(readFloat(value) ?? 0)).text;
}

/** `stop` as a list. */
export function readStop(request: PythonDict): readonly string[] {
  const stop = request.get('stop');
  if (typeof stop === 'string') return [stop];
  return isList(stop) ? stop.filter((word): word is string => typeof word === 'string') : [];
}

export function readStopIds(request: PythonDict): readonly number[] {
  const ids = request.get('stop_token_ids');
  return isList(ids) ? ids.map((id) => readInteger(id) ?? -1) : [];
}

/** `cache_salt`; the empty text without one. */
export function readSalt(request: PythonDict): string {
  const salt = request.get('cache_salt');
  return typeof salt === 'string' ? salt : '';
}
