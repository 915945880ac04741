import type { BodyForm } from '../../rules/strict-form.ts';
import type { Parts } from '../../rules/strict-parts.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { type Claim, settle } from './due-work.ts';
import { appendHistory } from './history.ts';
import { dueIn, markSettled, type Settlement } from './leases.ts';
import { isParked } from './parked.ts';
import { closeRequest } from './request-memory.ts';

// Callbacks on their way: the bytes as they were promised, sent until the receiver has them, refuses them, or it
// has taken too long. Where a receiver wants them in strict form, that is made of these bytes each time. A callback that is settled, whichever way, closes the request that it answers.

/** The table of due work; hints on a channel of the same name tell of new rows in it. */
export const callbackTable = 'work.callback';

const purgeBatch = 5_000;

export interface NewCallback {
  /** The role that signs and sends it. */
  role: string;
  action: string;
  messageId: string;
  /** The identity that it goes to. */
  recipient: string;
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
  /** Resources in an answer that was cut, and whose body cannot say so. */
  truncated?: number;
}

/** The row of a claimed callback. */
export interface DueCallback {
  id: number;
  action: string;
  message_id: string;
  recipient: string;
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
  form: BodyForm | null;
  /** How far its parts have come, where its receiver accepts it in parts only. */
  parts: Parts | null;
  traceparent: string | null;
  truncated: number | null;
}

/** Queues a callback, due at once, in the transaction that makes its promise true; returns its id. */
export async function queueCallback(tx: Transaction, callback: NewCallback): Promise<number> {
  const { role, action, messageId, destination, body, requestSignature, requestId, giveUpAfterMs } = callback;
  const { traceparent, recipient } = callback;
  const { rows } = await tx.query<{ id: number }>(
    `insert into work.callback
       (role, action, message_id, destination, receiver, body, request_signature, request_id, created_at, give_up_at, due_at, traceparent, recipient)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now(), ${dueIn('$9')}, now(), $10, $11) returning id`,
    [
      ...[role, action, messageId, destination, receiverOf(destination), body],
      ...[requestSignature, requestId ?? null, giveUpAfterMs, traceparent, recipient],
    ],
  );
  tx.hint(callbackTable);
  return rows[0]?.id ?? 0;
}

export function receiverOf(destination: string): string {
  return new URL(destination).origin;
}

export interface Delivered {
  claim: Claim<DueCallback>;
  at: Date;
  status: number;
  form: BodyForm;
  /** What the operator should know although it is delivered. */
  remark?: string;
  /** What is added to the history, as JSON text. */
  history?: string;
}

/** Marks callbacks as delivered and drops their bytes, by one statement, because nearly all end so. Returns for each whether its lease was still held: otherwise nothing is written. */
export async function recordDelivered(queryable: Queryable, delivered: readonly Delivered[]) {
  const { rows } = await queryable.query<{ id: number }>(
    `with settled as (
       update work.callback as callback
       set state = 'delivered', settled_at = at, last_status = status, last_error = remark, form = delivered.form, body = '', due_at = null,
         history = ${appendHistory('callback.history', 'delivered.history')}, lease_token = null, leased_until = null
       from unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::integer[], $5::text[], $6::text[], $7::text[])
         as delivered (id, token, at, status, form, remark, history)
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
      delivered.map(({ form }) => form),
      delivered.map(({ remark }) => remark ?? null),
      delivered.map(({ history }) => history ?? null),
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

/** Gives a callback up until an operator replays it. Refused: the receiver would refuse the same bytes again. Parked: its time is over. */
export async function recordGivenUp(
  tx: Transaction,
  claim: Claim<DueCallback>,
  state: 'refused' | 'parked',
  { at, ...failed }: FailedSend & { at: Date },
): Promise<void> {
  await giveBack(tx, claim, failed, { dueInMs: null, set: { state, settled_at: at } });
  if (claim.row.request_id !== null) await closeRequest(tx, claim.row.request_id);
}

export async function recordRetry(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { dueInMs, ...failed }: FailedSend & { dueInMs: number },
): Promise<void> {
  await giveBack(tx, claim, failed, { dueInMs });
}

async function giveBack(
  tx: Transaction,
  claim: Claim<DueCallback>,
  { status, error, form, parts, history }: FailedSend,
  { dueInMs, set }: Settlement,
): Promise<void> {
  const met = { last_status: status ?? null, last_error: error, form };
  const left = parts ? JSON.stringify(parts) : null;
  await settle(tx, callbackTable, claim, { dueInMs, set: { ...set, ...met, parts: left } });
  if (history === undefined) return;
  await tx.query(`update work.callback set history = ${appendHistory('history', '$2')} where id = $1`, [
    ...[claim.id, history],
  ]);
}

/** What an attempt met that has not delivered everything. */
export interface FailedSend {
  status?: number;
  error: string;
  form: BodyForm | null;
  parts?: Parts | null;
  /** What is added to the history, as JSON text. */
  history?: string;
}

/** What may be kept of one party: rows, and bytes of their bodies together. */
export interface CallbackShare {
  rows: number;
  bytes: number;
}

/** The callers to whom a role owes more callbacks than this. */
export function listCallersOwedMore(
  queryable: Queryable,
  role: string,
  { rows: most, bytes }: CallbackShare,
) {
  return queryable.column<string>(
    `select identity from work.callback as owed join work.request on request.id = owed.request_id
     where owed.role = $1 and owed.due_at is not null
     group by identity having count(*) > $2 or sum(octet_length(owed.body)) > $3`,
    [role, most, bytes],
  );
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

/** Removes callbacks that were settled before a time; returns how many. It looks at the oldest rows alone, so that no index on `settled_at` is needed, which every callback would have to pay for. */
export async function purgeCallbacks(
  database: Database,
  states: readonly ('delivered' | 'skipped' | 'refused' | 'parked')[],
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
