import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { endpointAt, errorShapeAt } from '../exchange/endpoint.js';
import { Answer } from '../stream/answer.js';
import { type OwnErrorCode, ownError } from '../stream/own-error.js';
import { refuseConnection } from './client-error.js';
import type { Drain } from './drain.js';
import { serveIntercepted } from './intercepted.js';
import { isWebSocket, serveAsOrdinary } from './other-upgrades.js';
import { passThrough } from './pass-through.js';
import { type RequestPath, readRequestPath } from './request-path.js';
import { passUpgrade, type UpgradeParts } from './upgrade.js';

export interface FrontParts extends UpgradeParts {
  readonly drain: Drain;
}

type Router = (request: IncomingMessage, response: ServerResponse) => void;

const OWN_ROOT = '/incontext/';
const ROUTED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);

/** What a request is to be forwarded as: set by the front for every request that reaches a route. */
const pathOfRequest = new WeakMap<IncomingMessage, RequestPath>();

/** The path of a request that came through the front. */
export function requestPathOf(request: IncomingMessage): RequestPath {
  const path = pathOfRequest.get(request);
  if (path === undefined) throw new TypeError('the request did not come through the front');
  return path;
}

/**
 * The first look at every request, in front of the router: prefix, access, the intercepted endpoints, and what a
 * router would refuse or rewrite (odd paths, methods and content types), which is forwarded as it is.
 */
export function createFront(parts: FrontParts, route: Router): Router {
  const { settings, access, drain } = parts;
  return (request, response) => {
    const path = readRequestPath(request.url ?? '/', settings.server.pathPrefix);
    const isOwn = path.pathname.startsWith(OWN_ROOT);
    if (!isOwn) drain.track(response);
    else if (drain.draining) response.shouldKeepAlive = false;
    const refused = access.refuse(request, path.pathname) ?? (isOwn && path.odd ? 'not_found' : undefined);
    if (refused !== undefined) {
      const error = ownError(refused, errorShapeAt(path.pathname));
      observeRefusal(request, refused, error.status, parts);
      new Answer(response).fail(error);
      return;
    }
    const endpoint = path.odd ? undefined : endpointAt(request.method, path.pathname);
    if (endpoint !== undefined) {
      void serveIntercepted(request, path.target, endpoint, new Answer(response, endpoint.errorShape), parts);
      return;
    }
    if (isOwn || (!path.odd && ROUTED_METHODS.has(request.method ?? ''))) {
      request.url = path.target;
      pathOfRequest.set(request, path);
      // A router that parses the content type answers 415 where the upstream should judge; rawHeaders keep it.
      delete request.headers['content-type'];
      route(request, response);
      return;
    }
    void passThrough(request, path.target, new Answer(response), parts);
  };
}

/** The same first look at upgrades. */
export function createUpgradeFront(server: Server, parts: FrontParts) {
  const { settings, access, drain } = parts;
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (!isWebSocket(request)) {
      serveAsOrdinary(server, request, socket, head);
      return;
    }
    drain.trackConnection(socket);
    const path = readRequestPath(request.url ?? '/', settings.server.pathPrefix);
    const refused =
      access.refuse(request, path.pathname) ?? (path.pathname.startsWith(OWN_ROOT) ? 'not_found' : undefined);
    if (refused === undefined) {
      passUpgrade(request, path.target, socket, head, parts);
      return;
    }
    observeRefusal(request, refused, refuseConnection(socket, refused), parts);
  };
}

function observeRefusal(
  request: IncomingMessage,
  code: OwnErrorCode,
  status: number,
  { log }: FrontParts,
): void {
  log.info({ route: 'refused', method: request.method, status, code }, 'exchange');
}
