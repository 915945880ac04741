import type { FastifyInstance } from 'fastify';
import { checkCallback } from '../delivery/check-callback.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { findWaitingFeed, keepAnswer, learnService } from '../storage/feeds/feeds.ts';
import { takeCallback } from '../storage/work/sent-requests.ts';
import type { DiscoveryContext } from './context.ts';
import { isService } from './services.ts';

// Receives what a pull asked for (catalog spec: POST /catalog/on_pull): checked, kept and acknowledged. It is applied afterwards
// (pull-answer.ts), because a download takes its time.

export function addOnPullRoute(
  server: FastifyInstance,
  service: SignedService,
  context: DiscoveryContext,
): void {
  signedRoute(server, service, actions.onPull, (request) => receive(context, request));
}

async function receive(
  { database, logger }: DiscoveryContext,
  request: VerifiedRequest<typeof actions.onPull>,
): Promise<Answer> {
  const { context, identity: signer, record, digest, rawBody: body } = request;
  const { messageId } = context;
  await checkCallback(database, 'discovery', request, actions.pull);
  await database.transaction(async (tx) => {
    const feed = await findWaitingFeed(tx, messageId);
    // The pull was issued again meanwhile, or is not wanted any more.
    if (feed === undefined) return logger.debug({ messageId, signer }, 'an on_pull came too late');
    if (!isService(feed, signer, record)) {
      throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', `${signer} was not asked for this pull.`);
    }
    if (feed.service === null) await learnService(tx, [feed.id], signer);
    const taken = { role: 'discovery', messageId, signer, action: actions.onPull.name, digest };
    if (await takeCallback(tx, taken)) await keepAnswer(tx, feed.id, { messageId, body });
  });
  return { status: 200, body: ack(messageId) };
}
