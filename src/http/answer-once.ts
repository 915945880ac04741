import { LruCache } from '../lru-cache.ts';
import { truncatedHeaders } from '../protocol/discover-messages.ts';
import { overloaded, ProtocolError } from '../protocol/errors.ts';
import { AlreadyRemembered, type RememberedAnswer, type RequestKey } from '../protocol/remembered.ts';
import type { Answer } from './error-answer.ts';

/**
 * Idempotency: a repeat of an accepted request gets the same answer and changes nothing, even if both arrive at the same moment. The handler stores
 * its answer in the transaction of its work, and the second of the two finds it there.
 *
 * `arrivals` is for handlers that change nothing before they store the answer. Then the stored answers are not queried for a request that is new to
 * this process. If another process has accepted it, the handler finds the answer when it stores its own, or fails although the earlier request succeeded.
 */
export async function answerOnce(
  recall: Recall | undefined,
  request: Occurrence & { key: RequestKey },
  handle: () => Promise<Answer>,
  arrivals?: Arrivals,
): Promise<Answer> {
  const { key } = request;
  if (recall === undefined) return await handle();
  const findEarlier = async () => sameRequest(await recall(key, request), request);
  const looksNew = arrivals?.(key) ?? false;
  const earlier = looksNew ? undefined : await findEarlier();
  if (earlier) return earlier;
  try {
    return await handle();
  } catch (error) {
    const isRemembered = error instanceof AlreadyRemembered;
    if (!isRemembered && !looksNew) throw error;
    const remembered = await findEarlier();
    if (remembered) return remembered;
    if (!isRemembered) throw error;
    const says = 'The same request is being worked on. Try again later.';
    throw overloaded(says, { retryAfterSeconds: 1 });
  }
}

export type Arrivals = (key: RequestKey) => boolean;

const maxArrivals = 10_000;

export function createArrivals(): Arrivals {
  const known = new LruCache<string, true>(maxArrivals);
  return ({ identity, url, messageId }) => {
    const name = JSON.stringify([identity, url, messageId]);
    if (known.find(name)) return false;
    known.keep(name, true);
    return true;
  };
}

/** Finds the answer to an accepted request that is still remembered; a repeat with a later expiry extends the time. */
export type Recall = (key: RequestKey, occurrence: Occurrence) => Promise<RememberedAnswer | undefined>;

export interface Occurrence {
  digest: string;
  /** When its signature expires: until then the same bytes may come again. */
  expires: Date;
}

function sameRequest(remembered: RememberedAnswer | undefined, { digest }: Occurrence): Answer | undefined {
  if (!remembered) return undefined;
  const { status, body, truncated } = remembered;
  if (remembered.digest === digest) return { status, body, headers: truncatedHeaders(truncated) };
  const says = 'An earlier request of this caller had the same messageId and another body.';
  throw new ProtocolError('CTX_MESSAGE_ID_DUPLICATE', says, { path: '$.context.messageId' });
}
