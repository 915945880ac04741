import type { BodyForm } from '../../rules/strict-form.ts';
import type { Database, Queryable } from '../database.ts';
import { callbackTable } from './callbacks.ts';
import type { PastExchange } from './history.ts';
import { dueIn } from './leases.ts';
import { isParked } from './parked.ts';
import { closeRequest } from './request-memory.ts';

// Callbacks as an operator sees them.

export type CallbackState = 'open' | 'delivered' | 'refused' | 'parked' | 'skipped';

export interface CallbackFilter {
  /** Only this one, with its history. */
  id?: number;
  role?: string;
  /** Open; parked or refused; delivered or skipped. */
  state?: 'open' | 'parked' | 'delivered';
  messageId?: string;
  limit: number;
  /** Only those with a lower id. */
  before?: number;
}

export interface CallbackSummary {
  id: number;
  role: string;
  action: string;
  messageId: string;
  destination: string;
  receiver: string;
  state: CallbackState;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  /** What was sent last. */
  form: BodyForm | null;
  createdAt: Date;
  /** The next attempt, or, while one is under way, the end of its lease. */
  dueAt: Date | null;
  giveUpAt: Date;
  settledAt: Date | null;
  bodyBytes: number;
  /** Only where one callback was asked for. */
  history?: PastExchange[] | null;
}

/** As partial indexes have them. */
const states = {
  open: "state = 'open' and due_at is not null",
  parked: isParked.callback,
  delivered: "state in ('delivered', 'skipped')",
};

const columns = `id, role, action, message_id as "messageId", destination, receiver, state, attempts, last_status as "lastStatus",
  last_error as "lastError", form, created_at as "createdAt", due_at as "dueAt", give_up_at as "giveUpAt",
  settled_at as "settledAt", length(body) as "bodyBytes"`;

/** The latest first. */
export function listCallbacks(
  queryable: Queryable,
  { id, role, state, messageId, limit, before }: CallbackFilter,
) {
  return queryable.rows<CallbackSummary>(
    `select ${columns} ${id === undefined ? '' : ', history'} from work.callback
     where ${state ? states[state] : 'true'} and ${id === undefined ? '$5::bigint is null' : 'id = $5'} and ($1::text is null or role = $1) and ($2::text is null or message_id = $2)
       and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [role, messageId, before, limit, id],
  );
}

/** To one receiver. */
export interface ReceiverFilter extends Pick<CallbackFilter, 'state' | 'limit' | 'before'> {
  /** The origin that they go to. */
  receiver: string;
  /** Indexes find waiting and parked callbacks of a receiver. Delivered ones have none, which every callback would have to pay for: so many callbacks are looked through. */
  lookAt: number;
}

/** The latest first; and the id that the next look begins below, where there may be more. */
export async function listCallbacksTo(
  queryable: Queryable,
  { receiver, state, limit, before, lookAt }: ReceiverFilter,
): Promise<{ callbacks: CallbackSummary[]; next?: number }> {
  const isIndexed = state === 'open' || state === 'parked';
  // Materialized, lest PostgreSQL walk through all callbacks in the order of their ids until it has found enough of this receiver.
  const chosen = isIndexed
    ? `select id from work.callback where ${states[state]} and receiver = $1 and ($2::bigint is null or id < $2)`
    : `select id from (select id, receiver, state from work.callback where ($2::bigint is null or id < $2) order by id desc limit $4) as looked where receiver = $1 and ${state ? states[state] : 'true'}`;
  const { rows: callbacks } = await queryable.query<CallbackSummary>(
    `with chosen as materialized (${chosen})
     select ${columns} from work.callback where id in (select id from chosen order by id desc limit $3) order by id desc`,
    [receiver, before, limit, ...(isIndexed ? [] : [lookAt])],
  );
  if (callbacks.length === limit) return { callbacks, next: callbacks.at(-1)?.id };
  if (isIndexed) return { callbacks };
  const { rows } = await queryable.query<{ id: number }>(
    `select id from work.callback where ($1::bigint is null or id < $1) order by id desc offset $2 limit 1`,
    [before, lookAt - 1],
  );
  return { callbacks, next: rows[0]?.id };
}

/** Sends refused and parked callbacks again for `giveUpAfterMs`, the same bytes: one, those to a receiver, or all. Returns how many. */
export async function replayCallbacks(
  database: Database,
  { id, receiver, giveUpAfterMs }: { id?: number; receiver?: string; giveUpAfterMs: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update work.callback set state = 'open', due_at = now(), attempts = 0, give_up_at = ${dueIn('$3')}, settled_at = null, parts = null
       where ($1::bigint is null or id = $1) and ($2::text is null or receiver = $2) and ${states.parked}`,
      [id, receiver, giveUpAfterMs],
    );
    if (rowCount > 0) tx.hint(callbackTable);
    return rowCount;
  });
}

/** Gives up a callback that waits or is parked, for good; false when there is none under this id, or when it is being sent. */
export async function skipCallback(database: Database, id: number): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ request_id: number | null }>(
      `update work.callback
       set state = 'skipped', settled_at = now(), due_at = null, lease_token = null, leased_until = null, body = ''
       where id = $1 and (${states.parked} or state = 'open' and (leased_until is null or leased_until < now()))
       returning request_id`,
      [id],
    );
    const [skipped] = rows;
    if (skipped?.request_id != null) await closeRequest(tx, skipped.request_id);
    return skipped !== undefined;
  });
}

/** A receiver of callbacks that has some waiting or parked. */
export interface CallbackReceiver {
  receiver: string;
  /** Counted up to a bound. */
  waiting: number;
  parked: number;
  oldestWaitingAt: Date | null;
  nextTryAt: Date | null;
  lastStatus: number | null;
  lastError: string | null;
}

/** By name; with a state, only those that have some waiting, or parked. A loose index scan finds the distinct receivers with one probe each. Both are counted up to `counted` per receiver. */
export function listCallbackReceivers(
  queryable: Queryable,
  {
    limit,
    after = '',
    state,
    counted,
  }: { limit: number; after?: string; state?: 'open' | 'parked'; counted: number },
): Promise<CallbackReceiver[]> {
  const parked = `(select receiver from work.callback where ${states.parked} and receiver > named.receiver order by receiver limit 1)`;
  const waiting = `(select min(next) from roles cross join lateral (
       select receiver as next from work.callback
       where due_at is not null and work.callback.role = roles.role and receiver > named.receiver
       order by work.callback.role, receiver limit 1
     ) as waiting)`;
  const wanted = state === 'open' ? [waiting] : state === 'parked' ? [parked] : [waiting, parked];
  return queryable.rows<CallbackReceiver>(
    `with recursive roles (role) as (
       (select role from work.callback where due_at is not null order by role limit 1)
       union all
       select (select role from work.callback where due_at is not null and role > roles.role order by role limit 1)
       from roles where role is not null
     ), named (receiver, place) as (
       select $1::text, 0
       union all
       select least(${wanted.join(', ')}), place + 1
       from named where receiver is not null and place < $2
     )
     select receiver, waiting, parked, "oldestWaitingAt", "nextTryAt", last.status as "lastStatus", last.error as "lastError"
     from named
     cross join lateral (
       select count(*) as waiting, min(created_at) as "oldestWaitingAt", min(due_at) as "nextTryAt" from (
         select created_at, due_at from work.callback
         where due_at is not null and role in (select role from roles) and receiver = named.receiver limit $3
       ) as looked
     ) as open
     cross join lateral (
       select count(*) as parked from (
         select from work.callback where ${states.parked} and receiver = named.receiver limit $3
       ) as looked
     ) as settled
     left join lateral (
       select last_status as status, last_error as error from (
         (select last_status, last_error, due_at from work.callback
          where due_at is not null and role in (select role from roles) and receiver = named.receiver limit 100)
         union all
         (select last_status, last_error, null from work.callback where ${states.parked} and receiver = named.receiver order by id desc limit 1)
       ) as looked where last_status is not null or last_error is not null order by due_at desc nulls last limit 1
     ) as last on true
     where place > 0 and receiver is not null order by receiver`,
    [after, limit, counted],
  );
}
