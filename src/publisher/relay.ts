import type { FastifyInstance } from 'fastify';
import { type AwaitedCallback, awaitCallback } from '../delivery/await-callback.ts';
import { type Callback, receiveCallback, waitForCallback } from '../delivery/receive-callback.ts';
import { type LargeCallbacks, type SignedService, signedRoute } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { isAskedService } from '../protocol/asked-service.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { chainValues } from '../protocol/request-signature.ts';
import { type Static, Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';

// Callbacks go to the address in the registry record (catalog spec: Context), where the publisher listens. `signpost publish --to` runs in
// another process: it announces its request at the trigger, and fetches the callback there.

/** How long after the request a callback is expected and kept. */
const keepMs = 15 * 60_000;
const maxAwaited = 1_000;
const maxWaitSeconds = 600;

export function createCallbackRelay() {
  const awaited = new Map<string, Awaited>();
  return {
    /** For the chain of signatures: the request that a callback claims to answer. */
    async findSentRequest(messageId: string) {
      const known = awaited.get(messageId);
      return known ? chainValues(known.request.authorization) : [];
    },
    /** Only the address of a request is known, not its owner: the registry record of the signer must have the same origin. */
    async isAwaited(...[identity, record]: Parameters<LargeCallbacks['isAwaited']>) {
      return [...awaited.values()].some(({ request }) => isAskedService(request, identity, record));
    },
    /** Everybody's callbacks arrive at `files`; the operator fetches them at `trigger`. */
    addRoutes(files: FastifyInstance, trigger: FastifyInstance, service: SignedService) {
      addCallbackRoute(files, service, awaited);
      addWaitingRoutes(trigger, awaited);
    },
  };
}

function addCallbackRoute(server: FastifyInstance, service: SignedService, awaited: Map<string, Awaited>) {
  signedRoute(server, service, actions.onPublish, async (received) => {
    const { messageId } = received.context;
    receiveCallback(received, awaited.get(messageId)?.callback);
    return { status: 200, body: ack(messageId) };
  });
}

function addWaitingRoutes(server: FastifyInstance, awaited: Map<string, Awaited>): void {
  server.post('/callbacks', async ({ body }, reply) => {
    const request = parseAwaitedRequest(body);
    const { messageId, digest, url } = request;
    if (awaited.size >= maxAwaited)
      throw new ProtocolError('NET_OVERLOADED', 'Too many commands are waiting for callbacks.');
    awaited.set(messageId, { request, callback: awaitCallback({ digest, service: { url } }) });
    setTimeout(() => awaited.delete(messageId), keepMs).unref();
    return reply.code(204).send();
  });

  server.get<{ Params: { messageId: string }; Querystring: { seconds?: string; acknowledgedBy?: string } }>(
    '/callbacks/:messageId',
    async ({ params, query: { seconds, acknowledgedBy } }) => {
      const known = awaited.get(params.messageId);
      if (!known)
        throw new ProtocolError('CTX_INVALID_FIELD', 'No command is waiting for it.', { status: 404 });
      const waitSeconds = Math.min(Number(seconds) || 0, maxWaitSeconds);
      return waitForCallback(known.callback, { seconds: waitSeconds, acknowledgedBy });
    },
  );
}

const AwaitedRequest = Type.Object(
  {
    messageId: Type.String({ minLength: 1 }),
    authorization: Type.String(),
    digest: Type.String(),
    url: Type.String({ format: 'uri' }),
  },
  { title: 'AwaitedRequest' },
);
export type AwaitedRequest = Static<typeof AwaitedRequest>;
const parseAwaitedRequest = validator(AwaitedRequest);

interface Awaited {
  request: AwaitedRequest;
  callback: AwaitedCallback<Callback>;
}
