import { AlreadyRemembered, ProtocolError } from '../protocol/errors.ts';
import type { Answer } from './error-answer.ts';

/**
 * A repeat of an accepted request gets the same answer and does nothing again, also when both arrive at the same moment: the
 * handler remembers its answer in the transaction of its work, and the second of two learns there that it is the second.
 */
export async function answerOnce(
  recall: Recall | undefined,
  { key, digest }: { key: RequestKey | undefined; digest: string },
  handle: () => Promise<Answer>,
): Promise<Answer> {
  if (recall === undefined || key === undefined) return await handle();
  const earlier = sameRequest(await recall(key), digest);
  if (earlier) return earlier;
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof AlreadyRemembered)) throw error;
    const concurrent = sameRequest(await recall(key), digest);
    if (concurrent) return concurrent;
    throw new ProtocolError('NET_OVERLOADED', 'The same request is being worked on. Try again later.', {
      retryAfterSeconds: 1,
    });
  }
}

/** Finds the answer to an accepted request that is still remembered. */
export type Recall = (key: RequestKey) => Promise<RememberedAnswer | undefined>;

export interface RequestKey {
  role: string;
  identity: string;
  method: string;
  /** Path and query. */
  url: string;
  action: string;
  messageId: string;
}

export interface RememberedAnswer {
  /** Of the request's body. */
  digest: string;
  status: number;
  body: string;
}

function sameRequest(remembered: RememberedAnswer | undefined, digest: string): Answer | undefined {
  if (!remembered) return undefined;
  if (remembered.digest === digest) return { status: remembered.status, body: remembered.body };
  throw new ProtocolError(
    'CTX_MESSAGE_ID_DUPLICATE',
    'An earlier request of this caller had the same messageId and another body.',
    { path: '$.context.messageId' },
  );
}
