// A backend for a server that counts with `POST {endpoint}` and answers `{"input_tokens": 12, "limit": 8192}`.

/** @import { Backend, BackendContext, PluginContext } from 'incontext-proxy' */

/** @param {PluginContext} context */
export function register({ registerBackend, errors }) {
  registerBackend('acme', (context) => createAcmeBackend(context, errors));
}

/**
 * @param {BackendContext} context
 * @param {PluginContext['errors']} errors
 * @returns {Backend}
 */
function createAcmeBackend({ options, tokenizer }, errors) {
  const endpoint = Object(options).endpoint;
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) {
    const rule = 'the address of the counting endpoint';
    const example = 'http://127.0.0.1:9000/count';
    const problem = { setting: 'backends.acme.endpoint', value: String(endpoint), rule, example };
    throw new errors.BackendSettingsError([problem]);
  }
  return {
    source: 'acme-count',

    async count(request, { signal }) {
      // The request's own bytes: parsed and written again, 64-bit numbers would change.
      const body = `{"messages":${request.text('messages')},"tools":${request.text('tools') ?? '[]'}}`;
      const deadline = AbortSignal.timeout(tokenizer.timeoutSeconds * 1000);
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([signal, deadline]),
      });
      if (answer.status === 404) throw new errors.ModelUnknownError('model_unknown');
      if (!answer.ok) throw new errors.CountFailedError('status');
      const { input_tokens: tokens, limit } = Object(await answer.json());
      if (!Number.isSafeInteger(tokens) || tokens < 0) throw new errors.CountFailedError('bad_answer');
      return { tokens, contextLength: limit };
    },

    // The length comes with every count.
    describe: async () => undefined,
    clearCache: () => {},
  };
}
