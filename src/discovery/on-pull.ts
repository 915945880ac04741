import type { FastifyInstance } from 'fastify';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { findBodyDigest } from '../protocol/digest.ts';
import { type ErrorCode, ProtocolError } from '../protocol/errors.ts';
import type { Queryable } from '../storage/database.ts';
import { findWaitingFeed, keepAnswer, learnService } from '../storage/feeds/feeds.ts';
import { findSent, takeCallback } from '../storage/work/sent-requests.ts';
import type { DiscoveryContext } from './context.ts';
import { isService } from './services.ts';

// Receives the answer to a pull (catalog spec: POST /catalog/on_pull): checks, keeps and acknowledges it. pull-answer.ts applies it afterwards.

export function addOnPullRoute(server: FastifyInstance, service: SignedService, context: DiscoveryContext) {
  signedRoute(server, service, actions.onPull, (request) => receive(context, request));
}

async function receive(
  { database, logger }: DiscoveryContext,
  request: VerifiedRequest<typeof actions.onPull>,
): Promise<Answer> {
  const { context, identity: signer, record, digest, rawBody: body } = request;
  const { messageId } = context;
  await checkCallback(database, request);
  await database.transaction(async (tx) => {
    const feed = await findWaitingFeed(tx, messageId);
    // The pull was issued again meanwhile, or is no longer wanted.
    if (feed === undefined) return logger.debug({ messageId, signer }, 'an on_pull came too late');
    if (!isService(feed, signer, record))
      throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', `This pull was not requested from ${signer}.`);
    if (feed.service === null) await learnService(tx, [feed.id], signer);
    const taken = { role: 'discovery', messageId, signer, action: actions.onPull.name, digest };
    if (await takeCallback(tx, taken)) await keepAnswer(tx, feed.id, { messageId, body });
  });
  return { status: 200, body: ack(messageId) };
}

/** A callback answers our pull (catalog spec: Context, requestDigest) by messageId and digest; without a signature chain, the digest is required. */
async function checkCallback(
  queryable: Queryable,
  { context, chained }: VerifiedRequest<typeof actions.onPull>,
): Promise<void> {
  const fault = (code: ErrorCode, message: string, member: string) =>
    new ProtocolError(code, message, { path: `$.context.${member}` });
  const sent = await findSent(queryable, 'discovery', context.messageId);
  if (sent?.action !== actions.pull.name)
    throw fault('CTX_INVALID_FIELD', 'This does not answer any of our requests.', 'messageId');
  const digest = context.requestDigest?.digest;
  if (digest === undefined && !chained)
    throw fault('CTX_MISSING_FIELD', 'Nothing links this to the request that it answers.', 'requestDigest');
  if (digest !== undefined && findBodyDigest(digest) !== sent.digest)
    throw fault('CTX_INVALID_FIELD', 'This is the digest of another request.', 'requestDigest.digest');
}
