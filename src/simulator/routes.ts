import type { Call } from './call.js';
import { answerChat } from './chat.js';
import type { Instance } from './instance.js';
import { answerModels } from './models.js';
import { detail } from './refusal.js';
import { answerDetokenize, answerTokenize } from './tokenize.js';

export type Handle = (call: Call, instance: Instance) => void | Promise<void>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly handle: Handle;
}

const routes: readonly Route[] = [
  { method: 'GET', path: '/v1/models', handle: answerModels },
  { method: 'POST', path: '/tokenize', handle: answerTokenize },
  { method: 'POST', path: '/detokenize', handle: answerDetokenize },
  { method: 'POST', path: '/v1/chat/completions', handle: answerChat },
  // The same generation without the key: so does the real server.
  { method: 'POST', path: '/invocations', handle: answerChat },
  { method: 'GET', path: '/health', handle: (call) => call.respond(200, '') },
];

const guardedPrefixes = ['/v1', '/v2', '/inference'];

/** The key is asked for under these prefixes only, and never of a preflight. */
export function isGuarded(path: string, method: string | undefined): boolean {
  return (
    method !== 'OPTIONS' && guardedPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  );
}

/** @throws Refusal 404 for an unknown path, 405 for a known path under another method */
export function findRoute(method: string, path: string): Handle {
  const onPath = routes.filter((route) => route.path === path);
  if (onPath.length === 0) throw detail(404, 'Not Found');
  const route = onPath.find((candidate) => candidate.method === method);
  if (route === undefined) throw detail(405, 'Method Not Allowed');
  return route.handle;
}
