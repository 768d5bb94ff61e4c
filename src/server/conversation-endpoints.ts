import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RawObject } from '../body/raw-object.js';
import type { EngineHost } from '../engines/host/engine-host.js';
import { ownError } from '../stream/own-error.js';
import { collectBody } from './collect-body.js';

const ROOT = '/incontext/conversations';
const LONGEST_ORDER_BYTES = 65_536;

export interface ConversationEndpointParts {
  readonly engine: { readonly host?: EngineHost | undefined };
}

/** Registers what administrators see of conversations, and do with them. With engine `none` there are none. */
export function registerConversationEndpoints(
  app: FastifyInstance,
  { engine: { host } }: ConversationEndpointParts,
): void {
  app.get(ROOT, { exposeHeadRoute: true }, async () => ({ conversations: (await host?.list.all()) ?? [] }));
  app.get<Of>(`${ROOT}/:id`, { exposeHeadRoute: true }, async ({ params }, reply) => {
    return (await host?.list.one(params.id)) ?? notFound(reply);
  });
  app.delete<Of>(`${ROOT}/:id`, async ({ params }, reply) => {
    return (await host?.list.remove(params.id)) === true ? reply.code(204).send() : notFound(reply);
  });
  app.post<Of>(`${ROOT}/:id/compress`, async (request, reply) => {
    const focus = await focusOf(request);
    if (focus === 'aborted') return reply.hijack();
    if (focus === 'malformed') return answerWith(reply, 'malformed_order');
    const isKnown = (await host?.order(request.params.id, focus.text)) === true;
    return isKnown ? reply.code(202).send({ status: 'scheduled' }) : notFound(reply);
  });
}

interface Of {
  Params: { id: string };
}

/** The methods of these endpoints, for the answer to others. */
export function conversationMethods(pathname: string): string | undefined {
  if (pathname === ROOT) return 'GET, HEAD';
  if (!pathname.startsWith(`${ROOT}/`)) return undefined;
  const rest = pathname.slice(ROOT.length + 1).split('/');
  if (rest.length === 1) return 'GET, HEAD, DELETE';
  return rest.length === 2 && rest[1] === 'compress' ? 'POST' : undefined;
}

/** No body, and a body without `focus`, mean no focus. */
async function focusOf(
  request: FastifyRequest,
): Promise<{ readonly text: string | undefined } | 'malformed' | 'aborted'> {
  const body = await collectBody(request.raw, LONGEST_ORDER_BYTES);
  if (body.kind === 'aborted') return 'aborted';
  if (body.kind === 'over') {
    body.stream.resume();
    return 'malformed';
  }
  return body.bytes.length === 0 ? { text: undefined } : focusIn(body.bytes);
}

function focusIn(bytes: Buffer): { readonly text: string | undefined } | 'malformed' {
  const order = RawObject.parse(bytes);
  if (order === undefined) return 'malformed';
  const focus = order.value('focus') ?? '';
  return typeof focus === 'string' ? { text: focus.trim() || undefined } : 'malformed';
}

function notFound(reply: FastifyReply): FastifyReply {
  return answerWith(reply, 'conversation_unknown');
}

function answerWith(reply: FastifyReply, code: 'conversation_unknown' | 'malformed_order'): FastifyReply {
  const { status, body } = ownError(code);
  return reply.code(status).type('application/json').send(body);
}
