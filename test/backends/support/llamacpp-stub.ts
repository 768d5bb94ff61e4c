import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Backend, BackendContext } from '../../../src/backends/contract.js';
import {
  createLlamacppBackend,
  type LlamacppInternals,
} from '../../../src/backends/llamacpp/llamacpp-backend.js';
import { type Arrived, json, listen, type Stub } from './tokenizer-stub.js';

export const NOT_FOUND = { error: { message: 'File Not Found', type: 'not_found_error', code: 404 } };

export interface LlamacppStub extends Stub {
  /** What arrived at that path. */
  at(path: string): readonly Arrived[];
}

export type Routes = Record<string, (response: ServerResponse, arrived: Arrived) => void>;

/** Answers as llama.cpp does, with one model of 2048 tokens a slot; `routes` come first. */
export async function llamacppServer(routes: Routes = {}): Promise<LlamacppStub> {
  const stub = await listen((response, arrived) => {
    const route = routes[arrived.path] ?? OWN[arrived.path];
    if (route === undefined) json(response, NOT_FOUND, 404);
    else route(response, arrived);
  });
  return Object.assign(stub, { at: (path: string) => stub.arrived.filter((one) => one.path === path) });
}

export function listOf(nCtx: number | undefined, id = 'smol') {
  const meta = nCtx === undefined ? null : { n_ctx: nCtx, n_ctx_train: 8192 };
  return { object: 'list', data: [{ id, object: 'model', owned_by: 'llamacpp', meta }] };
}

export const counts =
  (tokens: number) =>
  (response: ServerResponse): void =>
    json(response, { input_tokens: tokens, object: 'response.input_tokens' });

const OWN: Routes = {
  '/v1/models': (response) => json(response, listOf(2048)),
  '/v1/chat/completions/input_tokens': counts(12),
  '/v1/responses/input_tokens': counts(13),
  '/v1/messages/count_tokens': (response) => json(response, { input_tokens: 14 }),
  '/tokenize': (response) => json(response, { tokens: [1, 2, 3] }),
};

/** A backend that is closed after the test. */
export function llamacpp(context: BackendContext, internals?: LlamacppInternals): Backend {
  const backend = createLlamacppBackend(context, internals);
  onTestFinished(() => backend.close?.());
  return backend;
}
