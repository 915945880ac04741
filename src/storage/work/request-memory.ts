import { hash } from 'node:crypto';
import { AlreadyRemembered } from '../../protocol/errors.ts';
import type { Queryable, Transaction } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';

// Accepted requests and what they were answered, remembered at least until their signature expires and while their work is open: the same request
// again gets the same answer, and nothing is done twice. Remembering happens in the transaction of the work itself.

const purgeBatch = 5_000;
/** How much the clocks of a service's processes may differ: a request that one considers expired, another may accept. */
const clockMargin = "interval '1 minute'";

/** What makes two requests the same; their bodies are told apart by the digest. */
export interface RequestKey {
  role: string;
  identity: string;
  method: string;
  url: string;
  action: string;
  messageId: string;
}

export interface RememberedRequest {
  digest: string;
  status: number;
  body: string;
  /** That of its callback. */
  truncated?: number;
}

/** The same request may come again under a new signature until that expires, and is remembered that long. */
export async function findRemembered(
  queryable: Queryable,
  key: RequestKey,
  { digest, expires }: { digest: string; expires: Date },
): Promise<RememberedRequest | undefined> {
  const found = await queryable.first<
    Omit<RememberedRequest, 'truncated'> & { prolong: boolean; truncated: number | null }
  >(
    `select digest, status, body, digest = $2 and expires < $3 as prolong,
       (select max(truncated) from work.callback where request_id = request.id) as truncated
     from work.request where key = $1`,
    [hashOf(key), digest, expires],
    { prepared: true },
  );
  if (found === undefined) return undefined;
  const { prolong, truncated, ...remembered } = found;
  if (prolong) {
    await queryable.query('update work.request set expires = greatest(expires, $2) where key = $1', [
      hashOf(key),
      expires,
    ]);
  }
  return truncated === null ? remembered : { ...remembered, truncated };
}

/** Remembers a request with its answer; returns its id. Throws AlreadyRemembered, which undoes the transaction, when a concurrent one with the same key came first. */
export async function rememberRequest(queryable: Queryable, key: RequestKey, request: NewRequest) {
  const id = await insertRequest(queryable, key, request);
  if (id === undefined) throw new AlreadyRemembered();
  return id;
}

function insertRequest(queryable: Queryable, key: RequestKey, request: NewRequest) {
  const { role, identity, method, url, action, messageId } = key;
  const { digest, status, body, expires, open } = request;
  return queryable.value<number | undefined>(
    `insert into work.request
       (key, role, identity, method, url, action, message_id, digest, status, body, expires, open)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (key) do nothing returning id`,
    [hashOf(key), role, identity, method, url, action, messageId, digest, status, body, expires, open],
    { prepared: true },
  );
}

/** Notes that a signature served a request without body that is not remembered itself: see `findOtherUses`. */
export async function noteServed(queryable: Queryable, key: RequestKey, expires: Date): Promise<void> {
  await insertRequest(queryable, key, { digest: '', status: 200, body: '', expires, open: false });
}

/** The methods of the other requests without body that the same signature has served here, until it expires. */
export function findOtherUses(queryable: Queryable, key: RequestKey): Promise<string[]> {
  const { role, identity, method, url, messageId } = key;
  return queryable.column<string>(
    `select distinct method from work.request
     where message_id = $1 and method <> 'POST' and role = $2 and identity = $3 and (method, url) <> ($4, $5)`,
    [messageId, role, identity, method, url],
  );
}

export type NewRequest = RememberedRequest & { expires: Date; open: boolean };

/** The work of a request is done: from now on its expiry alone keeps it. */
export async function closeRequest(tx: Transaction, id: number): Promise<void> {
  await tx.query('update work.request set open = false where id = $1', [id]);
}

/** Forgets what may be forgotten; returns how many requests that were. */
export const purgeRequests = deleteBefore(
  `delete from work.request where id in (
       select id from work.request where expires < $1::timestamptz - ${clockMargin} and not open order by expires limit $2 for update skip locked
     )`,
  purgeBatch,
);

/** Under which a request is remembered: an address may be longer than an index entry. */
export function hashOf({ role, identity, method, url, action, messageId }: RequestKey): Buffer {
  const parts = JSON.stringify([role, identity, method, url, action, messageId]);
  return hash('sha256', parts, 'buffer');
}
