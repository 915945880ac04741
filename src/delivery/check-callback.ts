import type { VerifiedRequest } from '../http/signed-route.ts';
import type { Action } from '../protocol/actions.ts';
import type { Context } from '../protocol/context.ts';
import { findBodyDigest } from '../protocol/digest.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { Queryable } from '../storage/database.ts';
import { findSent } from '../storage/work/sent-requests.ts';

/**
 * Whether a callback answers a request that this role sent (catalog spec: Context, requestDigest): its messageId is one of ours, for that
 * action, and the digest is that of the request. The signed route has checked the chain of signatures already, where there is one; without
 * it the digest is all that binds the callback to the request, and must be there.
 */
export async function checkCallback(
  queryable: Queryable,
  role: string,
  { context, chained }: Pick<VerifiedRequest, 'chained'> & { context: Context },
  request: Pick<Action, 'name'>,
): Promise<void> {
  const sent = await findSent(queryable, role, context.messageId);
  if (sent?.action !== request.name) {
    throw new ProtocolError('CTX_INVALID_FIELD', 'This answers no request of ours.', {
      path: '$.context.messageId',
    });
  }
  const digest = context.requestDigest?.digest;
  if (digest === undefined && !chained) {
    throw new ProtocolError('CTX_MISSING_FIELD', 'Nothing binds this to the request that it answers.', {
      path: '$.context.requestDigest',
    });
  }
  if (digest !== undefined && findBodyDigest(digest) !== sent.digest) {
    throw new ProtocolError('CTX_INVALID_FIELD', 'This is the digest of another request.', {
      path: '$.context.requestDigest.digest',
    });
  }
}
