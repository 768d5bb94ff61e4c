import type { Call } from './call.js';
import { answerChat } from './chat.js';
import { answerCompletion } from './completions.js';
import type { Instance } from './instance.js';
import { answerCountTokens, answerMessages } from './messages.js';
import { answerModels } from './models.js';
import { detail, methodNotAllowed } from './refusal.js';
import { answerRender, answerScaleOut } from './render.js';
import { answerResponse } from './responses.js';
import { answerHealth, answerLoad, answerMetrics, answerVersion } from './status.js';
import { answerDetokenize, answerTokenize } from './tokenize.js';
import type { VllmVersion } from './version.js';

export type Handle = (call: Call, instance: Instance) => void | Promise<void>;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handle: Handle;
  /** The only version that has it; default: both. */
  readonly only?: VllmVersion;
}

const routes: readonly Route[] = [
  { method: 'GET', path: '/health', handle: answerHealth },
  { method: 'GET', path: '/ping', handle: answerHealth },
  { method: 'POST', path: '/ping', handle: answerHealth },
  { method: 'GET', path: '/load', handle: answerLoad },
  { method: 'GET', path: '/version', handle: answerVersion },
  { method: 'GET', path: '/metrics', handle: answerMetrics },
  { method: 'GET', path: '/v1/models', handle: answerModels },
  { method: 'POST', path: '/tokenize', handle: answerTokenize },
  { method: 'POST', path: '/detokenize', handle: answerDetokenize },
  { method: 'POST', path: '/v1/chat/completions', handle: answerChat },
  { method: 'POST', path: '/v1/completions', handle: answerCompletion },
  { method: 'POST', path: '/v1/responses', handle: answerResponse },
  { method: 'POST', path: '/v1/messages', handle: answerMessages },
  { method: 'POST', path: '/v1/messages/count_tokens', handle: answerCountTokens, only: '0.32' },
  // The same generation without the key: so does the real server.
  { method: 'POST', path: '/invocations', handle: answerChat },
  { method: 'POST', path: '/v1/chat/completions/render', handle: answerRender },
  { method: 'POST', path: '/v1/completions/render', handle: answerScaleOut, only: '0.32' },
  { method: 'POST', path: '/v1/messages/render', handle: answerScaleOut, only: '0.32' },
  { method: 'POST', path: '/inference/v1/generate', handle: answerScaleOut, only: '0.32' },
];

/** The key is asked for under these prefixes only, and never of a preflight. */
const guardedPrefixes: Readonly<Record<VllmVersion, readonly string[]>> = {
  '0.16': ['/v1'],
  '0.32': ['/v1', '/v2', '/inference', '/cohere'],
};

export function isGuarded(path: string, method: string | undefined, vllm: VllmVersion): boolean {
  return method !== 'OPTIONS' && guardedPrefixes[vllm].some((prefix) => path.startsWith(prefix));
}

/** @throws Refusal 404 for an unknown path, 405 for a known path under another method */
export function findRoute(method: string, path: string, vllm: VllmVersion): Handle {
  const onPath = routes.filter((route) => route.path === path && (route.only ?? vllm) === vllm);
  if (onPath.length === 0) throw detail(404, 'Not Found');
  const route = onPath.find((candidate) => candidate.method === method);
  if (route === undefined) throw methodNotAllowed(onPath.map((candidate) => candidate.method));
  return route.handle;
}
