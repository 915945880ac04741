import type { BodyForm } from '../../rules/strict-form.ts';
import type { Database, Queryable } from '../database.ts';
import { join, sql } from '../sql.ts';
import { callbackTable } from './callbacks.ts';
import type { PastExchange } from './history.ts';
import { dueIn } from './leases.ts';
import { isParked } from './parked.ts';
import { closeRequest } from './request-memory.ts';

// Callbacks as an operator sees them.

type CallbackState = 'open' | 'delivered' | 'refused' | 'parked' | 'skipped';

interface CallbackFilter {
  /** Only this one, with its history. */
  id?: number;
  /** Open; parked or refused; delivered or skipped. */
  state?: 'open' | 'parked' | 'delivered';
  limit: number;
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
  open: sql`state = 'open' and due_at is not null`,
  parked: isParked.callback,
  delivered: sql`state in ('delivered', 'skipped')`,
};

const columns = sql`id, role, action, message_id as "messageId", destination, receiver, state, attempts, last_status as "lastStatus",
  last_error as "lastError", form, created_at as "createdAt", due_at as "dueAt", give_up_at as "giveUpAt",
  settled_at as "settledAt", length(body) as "bodyBytes"`;

export function listCallbacks(queryable: Queryable, { id, state, limit, before }: CallbackFilter) {
  return queryable.rows<CallbackSummary>(sql`
    select ${columns} ${id === undefined ? sql`` : sql`, history`} from work.callback
    where ${state ? states[state] : sql`true`} and ${id === undefined ? sql`true` : sql`id = ${id}`}
      and (${before}::bigint is null or id < ${before})
    order by id desc limit ${limit}`);
}

interface ReceiverFilter extends Pick<CallbackFilter, 'state' | 'limit' | 'before'> {
  receiver: string;
  /** Indexes find waiting and parked callbacks of a receiver. Delivered ones have no index, which every callback would have to pay for: this many callbacks are searched. */
  lookAt: number;
}

/** The latest first; and the id that the next look begins below, where there may be more. */
export async function listCallbacksTo(
  queryable: Queryable,
  { receiver, state, limit, before, lookAt }: ReceiverFilter,
): Promise<{ callbacks: CallbackSummary[]; next?: number }> {
  const isIndexed = state === 'open' || state === 'parked';
  // Materialized: otherwise PostgreSQL reads all callbacks in the order of their ids until it has found enough of this receiver.
  const earlier = sql`(${before}::bigint is null or id < ${before})`;
  const chosen = isIndexed
    ? sql`select id from work.callback where ${states[state]} and receiver = ${receiver} and ${earlier}`
    : sql`select id from (select id, receiver, state from work.callback where ${earlier} order by id desc limit ${lookAt}) as looked
        where receiver = ${receiver} and ${state ? states[state] : sql`true`}`;
  const callbacks = await queryable.rows<CallbackSummary>(sql`with chosen as materialized (${chosen})
    select ${columns} from work.callback where id in (select id from chosen order by id desc limit ${limit}) order by id desc`);
  if (callbacks.length === limit) return { callbacks, next: callbacks.at(-1)?.id };
  if (isIndexed) return { callbacks };
  const next = await queryable.value<number | undefined>(sql`select id from work.callback
    where ${earlier} order by id desc offset ${lookAt - 1} limit 1`);
  return { callbacks, next };
}

/** Sends refused and parked callbacks again for `giveUpAfterMs`, the same bytes: one, those to a receiver, or all. Returns how many. */
export async function replayCallbacks(
  database: Database,
  { id, receiver, giveUpAfterMs }: { id?: number; receiver?: string; giveUpAfterMs: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(sql`
      update work.callback set state = 'open', due_at = now(), attempts = 0, give_up_at = ${dueIn(giveUpAfterMs)}, settled_at = null, parts = null
      where (${id}::bigint is null or id = ${id}) and (${receiver}::text is null or receiver = ${receiver}) and ${states.parked}`);
    if (rowCount > 0) tx.hint(callbackTable);
    return rowCount;
  });
}

/** Gives up a callback that waits or is parked, for good; false when there is none under this id, or when it is being sent. */
export async function skipCallback(database: Database, id: number): Promise<boolean> {
  return database.transaction(async (tx) => {
    const skipped = await tx.first<{ request_id: number | null }>(sql`update work.callback
      set state = 'skipped', settled_at = now(), due_at = null, lease_token = null, leased_until = null, body = ''
      where id = ${id} and (${states.parked} or state = 'open' and (leased_until is null or leased_until < now()))
      returning request_id`);
    if (skipped?.request_id != null) await closeRequest(tx, skipped.request_id);
    return skipped !== undefined;
  });
}

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

export interface ReceiverPage {
  limit: number;
  after?: string;
  /** Only those that have some waiting, or parked. */
  state?: 'open' | 'parked';
  /** Waiting and parked ones are counted up to this number, for each receiver. */
  counted: number;
}

/** By name. A loose index scan finds the distinct receivers with one probe each. */
export function listCallbackReceivers(
  queryable: Queryable,
  { limit, after = '', state, counted }: ReceiverPage,
): Promise<CallbackReceiver[]> {
  const parked = sql`(select receiver from work.callback where ${states.parked} and receiver > named.receiver order by receiver limit 1)`;
  const waiting = sql`(select min(next) from roles cross join lateral (
       select receiver as next from work.callback
       where due_at is not null and work.callback.role = roles.role and receiver > named.receiver
       order by work.callback.role, receiver limit 1
     ) as waiting)`;
  const wanted = state === 'open' ? [waiting] : state === 'parked' ? [parked] : [waiting, parked];
  return queryable.rows<CallbackReceiver>(sql`with recursive roles (role) as (
      (select role from work.callback where due_at is not null order by role limit 1)
      union all
      select (select role from work.callback where due_at is not null and role > roles.role order by role limit 1)
      from roles where role is not null
    ), named (receiver, place) as (
      select ${after}::text, 0
      union all
      select least(${join(wanted, ', ')}), place + 1
      from named where receiver is not null and place < ${limit}
    )
    select receiver, waiting, parked, "oldestWaitingAt", "nextTryAt", last.status as "lastStatus", last.error as "lastError"
    from named
    cross join lateral (
      select count(*) as waiting, min(created_at) as "oldestWaitingAt", min(due_at) as "nextTryAt" from (
        select created_at, due_at from work.callback
        where due_at is not null and role in (select role from roles) and receiver = named.receiver limit ${counted}
      ) as looked
    ) as open
    cross join lateral (
      select count(*) as parked from (
        select from work.callback where ${states.parked} and receiver = named.receiver limit ${counted}
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
    where place > 0 and receiver is not null order by receiver`);
}
