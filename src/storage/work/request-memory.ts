import { hash } from 'node:crypto';
import { AlreadyRemembered } from '../../protocol/errors.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';

// Accepted requests and what they were answered, remembered at least until their signature expires and while their work is open: the same request
// again gets the same answer, and nothing is done twice. Remembering happens in the transaction of the work itself.

const purgeBatch = 5_000;
/** How much the clocks of a service's processes may differ: a request that one considers expired, another may accept. */
const clockMarginMs = 60_000;

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
  const { rows } = await queryable.query<
    Omit<RememberedRequest, 'truncated'> & { prolong: boolean; truncated: number | null }
  >(
    `select digest, status, body, digest = $2 and expires < $3 as prolong,
       (select max(truncated) from work.callback where request_id = request.id) as truncated
     from work.request where key = $1`,
    [hashOf(key), digest, expires],
    { prepared: true },
  );
  if (rows[0] === undefined) return undefined;
  const { prolong, truncated, ...remembered } = rows[0];
  if (prolong) {
    await queryable.query('update work.request set expires = greatest(expires, $2) where key = $1', [
      hashOf(key),
      expires,
    ]);
  }
  return truncated === null ? remembered : { ...remembered, truncated };
}

/**
 * Remembers a request together with its answer; returns its id. Throws AlreadyRemembered, and so undoes the transaction, when a
 * concurrent one with the same key came first: it waits for that one's commit to know.
 */
export async function rememberRequest(
  queryable: Queryable,
  key: RequestKey,
  request: NewRequest,
): Promise<number> {
  const { role, identity, method, url, action, messageId } = key;
  const { digest, status, body, expires, open } = request;
  const { rows } = await queryable.query<{ id: number }>(
    `insert into work.request
       (key, role, identity, method, url, action, message_id, digest, status, body, expires, open)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (key) do nothing returning id`,
    [hashOf(key), role, identity, method, url, action, messageId, digest, status, body, expires, open],
    { prepared: true },
  );
  if (rows[0] === undefined) throw new AlreadyRemembered();
  return rows[0].id;
}

/** Notes that a signature served a request without body that is not remembered itself: see `findOtherUses`. */
export async function noteServed(queryable: Queryable, key: RequestKey, expires: Date): Promise<void> {
  const { role, identity, method, url, action, messageId } = key;
  await queryable.query(
    `insert into work.request
       (key, role, identity, method, url, action, message_id, digest, status, body, expires, open)
     values ($1, $2, $3, $4, $5, $6, $7, '', 200, '', $8, false)
     on conflict (key) do nothing`,
    [hashOf(key), role, identity, method, url, action, messageId, expires],
  );
}

/** The methods of the other requests without body that the same signature has served here, until it expires. */
export async function findOtherUses(queryable: Queryable, key: RequestKey): Promise<string[]> {
  const { role, identity, method, url, messageId } = key;
  const { rows } = await queryable.query<{ method: string }>(
    `select distinct method from work.request
     where message_id = $1 and method <> 'POST' and role = $2 and identity = $3 and (method, url) <> ($4, $5)`,
    [messageId, role, identity, method, url],
  );
  return rows.map((row) => row.method);
}

export type NewRequest = RememberedRequest & { expires: Date; open: boolean };

/** The work of a request is done: from now on its expiry alone keeps it. */
export async function closeRequest(tx: Transaction, id: number): Promise<void> {
  await tx.query('update work.request set open = false where id = $1', [id]);
}

/** Forgets what may be forgotten; returns how many requests that were. */
export async function purgeRequests(database: Database, now: Date): Promise<number> {
  return deleteInBatches(
    database,
    `delete from work.request where id in (
       select id from work.request where expires < $1 and not open order by expires limit $2 for update skip locked
     )`,
    [new Date(now.getTime() - clockMarginMs)],
    purgeBatch,
  );
}

/** Under which a request is remembered: an address may be longer than an index entry. */
export function hashOf({ role, identity, method, url, action, messageId }: RequestKey): Buffer {
  const parts = JSON.stringify([role, identity, method, url, action, messageId]);
  return hash('sha256', parts, 'buffer');
}
