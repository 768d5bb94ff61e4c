import { describe, expect, test } from 'vitest';
import { errorBody, errorEvents } from '../../src/stream/error-shape.js';
import { startProxy } from '../support/proxy.js';

const FIELDS = { message: 'no', type: 'api_error', param: null, code: 'upstream_unreachable' };
const BODIES = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'q' }], max_tokens: 8 },
  '/v1/completions': { prompt: 'q', max_tokens: 8 },
  '/v1/responses': { input: 'q', max_output_tokens: 8 },
  '/v1/messages': { messages: [{ role: 'user', content: 'q' }], max_tokens: 8 },
  '/v1/messages/count_tokens': { messages: [] },
  '/v1/embeddings': { input: 'q' },
} as const;
const isAnthropic = (path: string) => path.startsWith('/v1/messages');

describe.each(Object.entries(BODIES))('%s', (path, body) => {
  test('tells of an upstream out of reach in its own form', async () => {
    const proxy = await startProxy({ upstream: 'http://127.0.0.1:9' });
    try {
      const answer = await fetch(proxy.url + path, { method: 'POST', body: JSON.stringify(body) });
      expect(answer.status).toBe(502);
      const error = {
        message: expect.any(String),
        type: 'api_error',
        param: null,
        code: 'upstream_unreachable',
      };
      expect(await answer.json()).toEqual(isAnthropic(path) ? { type: 'error', error } : { error });
    } finally {
      await proxy.close();
    }
  });

  test('tells of a wrong key in its own form', async () => {
    const proxy = await startProxy({ upstream: 'http://127.0.0.1:9', 'api-keys': 'right' });
    try {
      const answer = await fetch(proxy.url + path, { method: 'POST', body: JSON.stringify(body) });
      expect(answer.status).toBe(401);
      const type = isAnthropic(path) ? 'authentication_error' : 'invalid_request_error';
      expect(await answer.json()).toMatchObject({ error: { type, code: 'invalid_api_key' } });
    } finally {
      await proxy.close();
    }
  });
});

test('a gateway timeout has the type that Anthropic gives it', () => {
  expect(JSON.parse(errorBody(504, FIELDS, 'anthropic'))).toMatchObject({
    type: 'error',
    error: { type: 'timeout_error' },
  });
});

test.each([
  ['openai', 'data: {"error":{"message":"no"', 'data: [DONE]\n\n'],
  ['anthropic', 'event: error\ndata: {"type":"error","error":{"message":"no"', '}}\n\n'],
  ['responses', 'event: error\ndata: {"type":"error","sequence_number":0,"message":"no"', '}}\n\n'],
] as const)('in a stream that has begun, for %s, an error is an event', (shape, beginning, end) => {
  const events = errorEvents(502, FIELDS, shape);
  expect(events.startsWith(beginning)).toBe(true);
  expect(events.endsWith(end)).toBe(true);
});
