import { json, type StubRoute, startStub, type UpstreamStub } from '../../support/upstream-stub.js';

/** A server that neither counts nor is of a known kind; the card of its model `m` has these members. */
export function otherServer(card: object, routes: Record<string, StubRoute> = {}): Promise<UpstreamStub> {
  return startStub({
    routes: {
      'GET /v1/models': (_request, response) => json(response, 200, { data: [{ id: 'm', ...card }] }),
      'POST /tokenize': (_request, response) => json(response, 404, {}),
      ...routes,
    },
  });
}
