import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import type { Queryable } from '../storage/database.ts';
import type { NewPromise } from '../storage/work/promises.ts';
import { rememberRequest } from '../storage/work/request-memory.ts';

type Accepted = Pick<VerifiedRequest, 'action' | 'key' | 'digest' | 'expires'>;

/** Remembers an accepted request with its answer, in the transaction of its work; returns its id. `open`: a callback is still owed. */
export async function rememberAnswer(
  queryable: Queryable,
  request: Accepted,
  answer: Answer & { body: string },
  { open }: { open: boolean },
): Promise<number> {
  return rememberRequest(queryable, request.key, { ...toRemember(request, answer), open });
}

/** The same for a request that only promises a callback. The callback is stored with it, and sent as soon as it is stored. */
export async function rememberPromise(
  keepPromise: KeepPromise,
  request: Accepted,
  answer: Answer & { body: string },
  promised: Pick<NewPromise, 'callback' | 'freshness'>,
): Promise<void> {
  await keepPromise({ key: request.key, answer: toRemember(request, answer), ...promised });
}

export type KeepPromise = (promise: NewPromise) => Promise<void>;

function toRemember({ action, digest, expires }: Accepted, { status, body }: Answer & { body: string }) {
  if (!action.remembered) throw new TypeError(`${action.method} ${action.name} is not stored`);
  return { digest, status, body, expires };
}
