import { hash } from 'node:crypto';
import { AlreadyRemembered, type RememberedAnswer, type RequestKey } from '../../protocol/remembered.ts';
import type { Queryable, Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';

// Accepted requests and their answers, remembered at least until their signature expires and while their work is open: a repeat gets the same answer,
// and nothing is done twice. Requests are remembered in the transaction of their work.

/** The same request may come again under a new signature until that expires, and is remembered for as long. */
export async function findRemembered(
  queryable: Queryable,
  key: RequestKey,
  { digest, expires }: { digest: string; expires: Date },
): Promise<RememberedAnswer | undefined> {
  const found = await queryable.first<
    Omit<RememberedAnswer, 'truncated'> & { prolong: boolean; truncated: number | null }
  >(
    sql`select digest, status, body, digest = ${digest} and expires < ${expires} as prolong,
       (select max(truncated) from work.callback where request_id = request.id) as truncated
     from work.request where key = ${hashOf(key)}`,
    { prepared: true },
  );
  if (found === undefined) return undefined;
  const { prolong, truncated, ...remembered } = found;
  if (prolong) {
    await queryable.query(sql`update work.request set expires = greatest(expires, ${expires})
      where key = ${hashOf(key)}`);
  }
  return truncated === null ? remembered : { ...remembered, truncated };
}

/** Remembers a request with its answer; returns its id. Throws AlreadyRemembered, which rolls back the transaction, if a concurrent one with its key came first. */
export async function rememberRequest(queryable: Queryable, key: RequestKey, request: NewRequest) {
  const id = await insertRequest(queryable, key, request);
  if (id === undefined) throw new AlreadyRemembered();
  return id;
}

function insertRequest(queryable: Queryable, { action, ...key }: RequestKey, request: NewRequest) {
  const row = newRow({ key: hashOf({ action, ...key }), ...key, ...request });
  return queryable.value<number | undefined>(
    sql`insert into work.request ${row} on conflict (key) do nothing returning id`,
    { prepared: true },
  );
}

/** Notes that a signature served a request without a body that is not remembered itself: see `findOtherUses`. */
export async function noteServed(queryable: Queryable, key: RequestKey, expires: Date): Promise<void> {
  await insertRequest(queryable, key, { digest: '', status: 200, body: '', expires, open: false });
}

/** The methods of the other requests without a body that the same signature has served here, until it expires. */
export function findOtherUses(queryable: Queryable, key: RequestKey): Promise<string[]> {
  const { role, identity, method, url, messageId } = key;
  return queryable.column<string>(sql`select distinct method from work.request
    where message_id = ${messageId} and method <> 'POST' and role = ${role} and identity = ${identity} and (method, url) <> (${method}, ${url})`);
}

export type NewRequest = Omit<RememberedAnswer, 'truncated'> & { expires: Date; open: boolean };

/** The work of a request is done: from now on it is kept only until its expiry. */
export async function closeRequest(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql`update work.request set open = false where id = ${id}`);
}

/** The key under which a request is remembered: an address may be longer than an index entry. */
export function hashOf({ role, identity, method, url, action, messageId }: RequestKey): Buffer {
  const parts = JSON.stringify([role, identity, method, url, action, messageId]);
  return hash('sha256', parts, 'buffer');
}
