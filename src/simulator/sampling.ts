import { readFloat } from './coercion.js';
import { isList, type PythonDict, PythonNumber } from './python-value.js';
import { badParameter, badRequest } from './refusal.js';
import type { VllmVersion } from './version.js';

/** Refuses sampling parameters that no server takes. @throws Refusal */
export function checkSampling(request: PythonDict, choices: number, vllm: VllmVersion): void {
  const temperature = request.get('temperature') ?? null;
  const shown = temperature instanceof PythonNumber ? new PythonNumber('float', temperature.text).text : '';
  const value = readFloat(temperature);
  if (value !== undefined && Number.isNaN(value) && vllm === '0.32') {
    throw badParameter('temperature must be a finite number, got nan.', 'temperature', 'nan');
  }
  if (value !== undefined && value < 0) {
    throw badParameter(`temperature must be non-negative, got ${shown}.`, 'temperature', shown);
  }
  if (vllm === '0.32' && choices > 16_384) {
    throw badRequest(
      `n must be at most 16384, got ${choices}. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.`,
    );
  }
  if (choices < 1) throw badRequest(`n must be at least 1, got ${choices}.`);
  if (value === 0 && choices > 1 && request.get('use_beam_search') !== true) {
    throw badRequest(`n must be 1 when using greedy sampling, got ${choices}.`);
  }
}

/** `stop` as a list. */
export function readStop(request: PythonDict): readonly string[] {
  const stop = request.get('stop');
  if (typeof stop === 'string') return [stop];
  return isList(stop) ? stop.filter((word): word is string => typeof word === 'string') : [];
}

/** `cache_salt`; the empty text without one. */
export function readSalt(request: PythonDict): string {
  const salt = request.get('cache_salt');
  return typeof salt === 'string' ? salt : '';
}
