import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import type { Transaction } from '../storage/database.ts';
import { rememberRequest } from '../storage/request-memory.ts';

/**
 * Remembers an accepted request with its answer, in the transaction of what it did, and returns its id: the same request again gets the
 * same answer. `open`: a callback is still owed.
 */
export async function rememberAnswer(
  tx: Transaction,
  { action, key, digest, expires }: Pick<VerifiedRequest, 'action' | 'key' | 'digest' | 'expires'>,
  { status, body }: Answer & { body: string },
  { open }: { open: boolean },
): Promise<number> {
  if (key === undefined) throw new TypeError(`${action.method} ${action.name} is not remembered`);
  return rememberRequest(tx, key, { digest, status, body, expires, open });
}
