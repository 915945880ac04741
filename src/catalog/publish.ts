import type { FastifyInstance } from 'fastify';
import { rememberAnswer } from '../delivery/remember-answer.ts';
import { callbackAddress } from '../http/callback-address.ts';
import { largeBodyBytes } from '../http/large-bodies.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { faultAt } from '../protocol/fault.ts';
import { judgeMasters } from '../rules/master-publishers.ts';
import { type Submission, submissionsOf } from '../rules/submission.ts';
import { insertSubmission, lockLane } from '../storage/catalog/submissions.ts';
import type { Backlog } from './backlog.ts';
import type { CatalogContext } from './context.ts';
import type { FreshMessages } from './fresh-messages.ts';

// POST /catalog/publish (catalog spec): accept durably, acknowledge. The catalogs are processed afterwards (process-submission.ts);
// catalog/on_publish reports the results.

type PublishRequest = VerifiedRequest<typeof actions.publish>;

export function addPublishRoute(
  server: FastifyInstance,
  service: SignedService,
  context: CatalogContext,
  { fresh, backlog }: Acceptance,
): void {
  const publish = async (request: PublishRequest) => {
    const { identity, message } = request;
    // The request itself is already charged.
    service.rateLimits?.identities.spend(identity, message.catalogs.length - 1, performance.now());
    checkPolicy(context, request);
    return accept(context, request, { fresh, backlog });
  };
  signedRoute(server, service, actions.publish, publish, { admit: backlog.admit });
}

export interface Acceptance {
  fresh: FreshMessages;
  backlog: Backlog;
}

/** Who may publish what, and to which networks: these two checks are answered at once. */
function checkPolicy({ config }: CatalogContext, { identity, record, message }: PublishRequest): void {
  const { MASTER_PUBLISHERS: masterPublishers, REGISTRY_NAME: registryName } = config;
  const isAllowed = judgeMasters(identity, { masterPublishers, registryName });
  for (const submission of submissionsOf(message, config.DEFAULT_NETWORK_ID)) {
    const closed =
      submission.catalogType === 'MASTER' && isAllowed !== 'everywhere'
        ? submission.networkIds.filter((networkId) => !isAllowed(networkId))
        : [];
    if (closed.length > 0)
      throw faultAt(
        'AUT_UNAUTHORIZED_ACTION',
        place(submission, 'catalogType'),
        `is MASTER, but ${identity} may not publish MASTER catalogs in ${closed.join(', ')}: only the facilitator of a network and publishers listed by the operator of this service may`,
      );
    const foreign = submission.networkIds.find((networkId) => !record.networkMemberships.includes(networkId));
    if (config.NETWORK_MEMBERSHIP === 'enforce' && foreign !== undefined)
      throw faultAt(
        'AUT_DOMAIN_NOT_ALLOWED',
        place(submission, 'visibleTo'),
        `includes ${foreign}, but ${identity} is not a member of it`,
      );
  }
}

/** The member of the directive, or the catalog if there is no directive. */
function place({ directiveAt, at }: Submission, member: string): readonly (string | number)[] {
  return directiveAt === undefined ? at : [...directiveAt, member];
}

async function accept(
  { config, database, now }: CatalogContext,
  request: PublishRequest,
  { fresh, backlog }: Acceptance,
): Promise<Answer> {
  const { identity: publisher, record, context, message, rawBody: body } = request;
  const callbackUrl = callbackAddress(request, actions.onPublish, config);
  const answer = { status: 200, body: JSON.stringify(ack(context.messageId)) };
  await database.transaction(async (tx) => {
    // Remembered first, so that a repeat of the same request waits here, before it locks the lane.
    const requestId = await rememberAnswer(tx, request, answer, { open: true });
    await lockLane(tx, publisher);
    const submission = {
      publisher,
      recordSubscriberId: record.subscriberId,
      networkMemberships: record.networkMemberships,
      messageId: context.messageId,
      acceptedAt: now(),
      context: JSON.stringify(context),
      body,
      digest: request.digest,
      requestSignature: request.signature,
      requestId,
      callbackUrl,
      traceparent: request.traceparent,
    };
    const submissionId = await insertSubmission(tx, submission, backlog.share());
    if (submissionId === undefined) throw backlog.refuse(publisher);
    // A large one is read again by the thread that applies it.
    if (body.length < largeBodyBytes) fresh.keep(submissionId, { message, bytes: body.length });
  });
  return answer;
}
