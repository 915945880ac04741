import type { Database, Queryable, Transaction } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { type Claim, settle } from './due-work.ts';
import { dueIn, markSettled } from './leases.ts';
import { isParked } from './parked.ts';
import { closeRequest } from './request-memory.ts';

// Callbacks on their way: the bytes as they were promised, sent unchanged until the receiver has them, refuses them, or it
// has taken too long. A callback that is settled, whichever way, closes the request that it answers.

/** The table of due work, and the channel that tells of new rows in it. */
export const callbackTable = 'work.callback';
export const callbacksChannel = 'callbacks';

const purgeBatch = 5_000;

export interface NewCallback {
  /** The role that signs and sends it. */
  role: string;
  action: string;
  messageId: string;
  destination: string;
  body: Buffer;
  /** The signature of the request that it answers, verbatim. */
  requestSignature: string;
  /** The remembered request, when there is one. */
  requestId?: number;
  /** For how long it is tried. */
  giveUpAfterMs: number;
  /** Of the span that caused it, where it is traced. */
  traceparent?: string | null;
}

/** The row of a claimed callback. */
export interface DueCallback {
  id: number;
  action: string;
  message_id: string;
  destination: string;
  /** The origin of the destination. */
  receiver: string;
  body: Buffer;
  request_signature: string;
  request_id: number | null;
  created_at: Date;
  give_up_at: Date;
  /** What the last attempt met. */
  last_status: number | null;
  last_error: string | null;
  traceparent: string | null;
}

/** Queues a callback, due at once, in the transaction that makes its promise true; returns its id. */
export async function queueCallback(tx: Transaction, callback: NewCallback): Promise<number> {
  const { role, action, messageId, destination, body, requestSignature, requestId, giveUpAfterMs } = callback;
  const { traceparent } = callback;
  const { rows } = await tx.query<{ id: number }>(
    `insert into work.callback
       (role, action, message_id, destination, receiver, body, request_signature, request_id, created_at, give_up_at, due_at, traceparent)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now(), ${dueIn('$9')}, now(), $10) returning id`,
    [
      ...[role, action, messageId, destination, receiverOf(destination), body],
      ...[requestSignature, requestId ?? null, giveUpAfterMs, traceparent],
    ],
  );
  tx.hint(callbacksChannel);
  return rows[0]?.id ?? 0;
}

export function receiverOf(destination: string): string {
  return new URL(destination).origin;
}

export interface Delivered {
  claim: Claim<DueCallback>;
  at: Date;
  status: number;
}

/**
 * Their receivers have them. Their bytes are not needed any more. One statement, because this is what becomes of nearly all. Returns of
 * each whether its lease was still held: otherwise nothing is written.
 */
export async function recordDelivered(
  queryable: Queryable,
  delivered: readonly Delivered[],
): Promise<boolean[]> {
  const { rows } = await queryable.query<{ id: number }>(
    `with settled as (
       update work.callback as callback
       set state = 'delivered', settled_at = at, last_status = status, last_error = null, body = '', due_at = null,
         lease_token = null, leased_until = null
       from unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::integer[]) as delivered (id, token, at, status)
       where callback.id = delivered.id and callback.lease_token = delivered.token
       returning callback.id, callback.request_id
     ), closed as (
       update work.request set open = false where id in (select request_id from settled)
     )
     select id from settled`,
    [
      delivered.map(({ claim }) => claim.id),
      delivered.map(({ claim }) => claim.token),
      delivered.map(({ at }) => at),
      delivered.map(({ status }) => status),
    ],
    { prepared: true },
  );
  const written = new Set(rows.map(({ id }) => id));
  return delivered.map(({ claim }) => {
    const isWritten = written.has(claim.id);
    if (isWritten) markSettled(claim, { forGood: true });
    return isWritten;
  });
}

/** The receiver says that it is wrong: the same bytes would be refused again. */
export async function recordRefused(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { at, status, error }: { at: Date; status: number; error: string },
): Promise<void> {
  await end(tx, claim, { state: 'refused', settled_at: at, last_status: status, last_error: error });
}

/** It was tried for as long as it may be: an operator can look at it and replay it. */
export async function recordParked(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { at, status, error }: { at: Date; status?: number; error: string },
): Promise<void> {
  await end(tx, claim, { state: 'parked', settled_at: at, last_status: status ?? null, last_error: error });
}

async function end(tx: Transaction, claim: Claim<DueCallback>, set: Record<string, unknown>): Promise<void> {
  await settle(tx, callbackTable, claim, { dueInMs: null, set });
  if (claim.row.request_id !== null) await closeRequest(tx, claim.row.request_id);
}

export async function recordRetry(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { dueInMs, status, error }: { dueInMs: number; status?: number; error: string },
): Promise<void> {
  const set = { last_status: status ?? null, last_error: error };
  await settle(tx, callbackTable, claim, { dueInMs, set });
}

/** What may be kept of one party: rows, and bytes of their bodies together. */
export interface CallbackShare {
  rows: number;
  bytes: number;
}

/** The callers to whom a role owes more callbacks than this. */
export async function listCallersOwedMore(
  queryable: Queryable,
  role: string,
  { rows: most, bytes }: CallbackShare,
): Promise<string[]> {
  const { rows } = await queryable.query<{ identity: string }>(
    `select identity from work.callback as owed join work.request on request.id = owed.request_id
     where owed.role = $1 and owed.due_at is not null
     group by identity having count(*) > $2 or sum(octet_length(owed.body)) > $3`,
    [role, most, bytes],
  );
  return rows.map(({ identity }) => identity);
}

/** Removes, of each receiver, the oldest of its refused and parked callbacks that are beyond the share. Returns how many those were. */
export async function purgeUndelivered(
  queryable: Queryable,
  { rows, bytes }: CallbackShare,
): Promise<number> {
  const { rowCount } = await queryable.query(
    `delete from work.callback where id in (
       select id from (
         select id, row_number() over newest as position, sum(octet_length(body)) over newest as bytes
         from work.callback where ${isParked.callback}
         window newest as (partition by role, receiver order by id desc)
       ) as kept where position > $1 or bytes > $2
     )`,
    [rows, bytes],
  );
  return rowCount;
}

/** Removes callbacks that were delivered or skipped before a time; returns how many those were. */
export function purgeCallbacks(database: Database, settledBefore: Date): Promise<number> {
  return purgeSettled(database, ['delivered', 'skipped'], settledBefore);
}

/** Removes callbacks that were refused or parked before a time: no operator has replayed them until then. Returns how many those were. */
export function purgeParked(database: Database, settledBefore: Date): Promise<number> {
  return purgeSettled(database, ['refused', 'parked'], settledBefore);
}

/**
 * Looks at the oldest rows alone: they are settled about in the order in which they came, so that no index on `settled_at` is needed, which every callback
 * would have to pay for.
 */
async function purgeSettled(
  database: Database,
  states: readonly string[],
  settledBefore: Date,
): Promise<number> {
  let total = 0;
  for (const state of states) {
    total += await deleteInBatches(
      database,
      `delete from work.callback where settled_at < $2 and state = $1 and id = any (array(
         select id from work.callback where state = $1 order by id limit $3
       ))`,
      [state, settledBefore],
      purgeBatch,
    );
  }
  return total;
}
