import { integerText, readBoolean, readInteger } from './coercion.js';
import type { PythonDict } from './python-value.js';
import { readSalt, readStop, readStopIds } from './sampling.js';

/** What chats and completions ask for alike. */
export interface SamplingAsk {
  readonly minTokens: number;
  readonly choices: number;
  readonly stop: readonly string[];
  readonly stopIds: readonly number[];
  readonly keepStop: boolean;
  readonly returnTokenIds: boolean;
  readonly echo: boolean;
  readonly seed: number | null;
  readonly truncatePromptTokens: number | null;
  readonly truncateText: string;
  readonly truncateFrom: 'left' | 'right';
  /** Prompts under different salts share no prefix. */
  readonly cacheSalt: string;
}

export function readSamplingAsk(request: PythonDict, choices: number): SamplingAsk {
  return {
    minTokens: readInteger(request.get('min_tokens')) ?? 0,
    choices,
    stop: readStop(request),
    stopIds: readStopIds(request),
    keepStop: readBoolean(request.get('include_stop_str_in_output')) ?? false,
    returnTokenIds: readBoolean(request.get('return_token_ids')) ?? false,
    echo: readBoolean(request.get('echo')) ?? false,
    seed: readInteger(request.get('seed')) ?? null,
    truncatePromptTokens: readInteger(request.get('truncate_prompt_tokens')) ?? null,
    truncateText: integerText(request.get('truncate_prompt_tokens')),
    truncateFrom: request.get('truncation_side') === 'right' ? 'right' : 'left',
    cacheSalt: readSalt(request),
  };
}
