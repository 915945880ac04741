import type { BodyForm } from '../../rules/strict-form.ts';
import type { Parts } from '../../rules/strict-parts.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { newRow, sql } from '../sql.ts';
import { type Claim, settle } from './due-work.ts';
import { appendHistory } from './history.ts';
import { dueIn, markSettled } from './leases.ts';
import { isParked } from './parked.ts';
import { closeRequest } from './request-memory.ts';

// Undelivered callbacks: the promised bytes, sent until the receiver has them, refuses them, or the time is over. If a receiver wants strict form, it
// is made from these bytes each time. A settled callback, whatever its result, closes its request.

export const callbackTable = 'work.callback';

const purgeBatch = 5_000;

export interface NewCallback {
  role: string;
  action: string;
  messageId: string;
  recipient: string;
  destination: string;
  body: Buffer;
  /** The signature of the answered request, verbatim. */
  requestSignature: string;
  requestId?: number;
  giveUpAfterMs: number;
  traceparent?: string | null;
  /** Resources in a truncated answer whose body cannot say so. */
  truncated?: number;
}

export interface DueCallback {
  id: number;
  action: string;
  message_id: string;
  recipient: string;
  destination: string;
  receiver: string;
  body: Buffer;
  request_signature: string;
  request_id: number | null;
  created_at: Date;
  give_up_at: Date;
  last_status: number | null;
  last_error: string | null;
  form: BodyForm | null;
  /** The progress of its parts, if its receiver accepts it only in parts. */
  parts: Parts | null;
  traceparent: string | null;
  truncated: number | null;
}

/** Queues a callback, due at once, in the transaction of its promise; returns its id. */
export function queueCallback(tx: Transaction, { giveUpAfterMs, ...callback }: NewCallback) {
  const now = sql`now()`;
  const times = { createdAt: now, giveUpAt: dueIn(giveUpAfterMs), dueAt: now };
  const row = newRow({ ...callback, receiver: receiverOf(callback.destination), ...times });
  tx.hint(callbackTable);
  return tx.value<number>(sql`insert into work.callback ${row} returning id`);
}

export function receiverOf(destination: string): string {
  return new URL(destination).origin;
}

export interface Delivered {
  claim: Claim<DueCallback>;
  at: Date;
  status: number;
  form: BodyForm;
  /** A note for the operator about a delivered callback. */
  remark?: string;
  /** Addition to the history, as JSON text. */
  history?: string;
}

/** Marks callbacks as delivered and drops their bytes, by one statement, because nearly all end so. Returns for each whether its lease was still held: otherwise nothing is written. By arrays, whose length PostgreSQL knows: for JSON it expects a hundred rows, and a plan made while there are few callbacks would later read all. */
export async function recordDelivered(queryable: Queryable, delivered: readonly Delivered[]) {
  const ids = await queryable.column<number>(
    sql`with settled as (
       update work.callback as callback
       set state = 'delivered', settled_at = at, last_status = status, last_error = remark, form = delivered.form, body = '', due_at = null,
         history = ${appendHistory(sql`callback.history`, sql`delivered.history`)}, lease_token = null, leased_until = null
       from unnest(
         ${delivered.map(({ claim }) => claim.id)}::bigint[],
         ${delivered.map(({ claim }) => claim.token)}::uuid[],
         ${delivered.map(({ at }) => at)}::timestamptz[],
         ${delivered.map(({ status }) => status)}::integer[],
         ${delivered.map(({ form }) => form)}::text[],
         ${delivered.map(({ remark }) => remark)}::text[],
         ${delivered.map(({ history }) => history)}::text[]
       ) as delivered (id, token, at, status, form, remark, history)
       where callback.id = delivered.id and callback.lease_token = delivered.token
       returning callback.id, callback.request_id
     ), closed as (
       update work.request set open = false where id in (select request_id from settled)
     )
     select id from settled`,
    { prepared: true },
  );
  const written = new Set(ids);
  return delivered.map(({ claim }) => {
    const isWritten = written.has(claim.id);
    if (isWritten) markSettled(claim, { forGood: true });
    return isWritten;
  });
}

/** Gives up a callback until an operator replays it. Refused: the receiver would refuse the same bytes again. Parked: its time is over. */
export async function recordGivenUp(
  tx: Transaction,
  claim: Claim<DueCallback>,
  state: 'refused' | 'parked',
  { at, ...failed }: FailedSend & { at: Date },
): Promise<void> {
  const set = { state, settled_at: at, ...columnsOf(failed) };
  await settle(tx, callbackTable, claim, { dueInMs: null, set });
  if (claim.row.request_id !== null) await closeRequest(tx, claim.row.request_id);
}

export async function recordRetry(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { dueInMs, ...failed }: FailedSend & { dueInMs: number },
): Promise<void> {
  await settle(tx, callbackTable, claim, { dueInMs, set: columnsOf(failed) });
}

function columnsOf({ status, error, form, parts, history }: FailedSend) {
  const left = parts ? JSON.stringify(parts) : null;
  const all = history === undefined ? sql`history` : appendHistory(sql`history`, history);
  return { last_status: status, last_error: error, form, parts: left, history: all };
}

interface FailedSend {
  status?: number;
  error: string;
  form: BodyForm | null;
  parts?: Parts | null;
  /** Addition to the history, as JSON text. */
  history?: string;
}

/** Limits for the callbacks of one party: rows, and total bytes of their bodies. */
export interface CallbackShare {
  rows: number;
  bytes: number;
}

export function listCallersOwedMore(
  queryable: Queryable,
  role: string,
  { rows: most, bytes }: CallbackShare,
) {
  return queryable.column<string>(sql`
    select identity from work.callback as owed join work.request on request.id = owed.request_id
    where owed.role = ${role} and owed.due_at is not null
    group by identity having count(*) > ${most} or sum(octet_length(owed.body)) > ${bytes}`);
}

/** Removes the oldest refused and parked callbacks of each receiver beyond the share. Returns how many. */
export function purgeUndelivered(queryable: Queryable, { rows, bytes }: CallbackShare) {
  return queryable.count(sql`delete from work.callback where id in (
      select id from (
        select id, row_number() over newest as position, sum(octet_length(body)) over newest as bytes
        from work.callback where ${isParked.callback}
        window newest as (partition by role, receiver order by id desc)
      ) as kept where position > ${rows} or bytes > ${bytes}
    )`);
}

/** Removes callbacks that were settled before a time; returns how many. It reads only the oldest rows, so it needs no index on `settled_at`, which every callback would have to maintain. */
export async function purgeCallbacks(
  database: Database,
  states: readonly ('delivered' | 'skipped' | 'refused' | 'parked')[],
  settledBefore: Date,
): Promise<number> {
  let total = 0;
  for (const state of states) {
    const statement = (limit: number) => sql`delete from work.callback
      where settled_at < ${settledBefore} and state = ${state} and id = any (array(
        select id from work.callback where state = ${state} order by id limit ${limit}
      ))`;
    total += await deleteInBatches(database, statement, purgeBatch);
  }
  return total;
}
