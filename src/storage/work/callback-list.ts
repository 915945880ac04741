import type { Database, Queryable } from '../database.ts';
import { callbacksChannel } from './callbacks.ts';
import { dueIn } from './leases.ts';
import { closeRequest } from './request-memory.ts';

// Callbacks as an operator sees them.

export type CallbackState = 'open' | 'delivered' | 'refused' | 'parked' | 'skipped';

export interface CallbackFilter {
  role?: string;
  /** Open; parked or refused; delivered or skipped. */
  state?: 'open' | 'parked' | 'delivered';
  /** The origin that they go to. */
  receiver?: string;
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
  createdAt: Date;
  /** The next attempt, or, while one is under way, the end of its lease. */
  dueAt: Date | null;
  giveUpAt: Date;
  settledAt: Date | null;
  bodyBytes: number;
}

/** As partial indexes have them. */
const states = {
  open: "state = 'open' and due_at is not null",
  parked: "state in ('refused', 'parked')",
  delivered: "state in ('delivered', 'skipped')",
};

/** The latest first. */
export async function listCallbacks(
  queryable: Queryable,
  { role, state, receiver, messageId, limit, before }: CallbackFilter,
): Promise<CallbackSummary[]> {
  const { rows } = await queryable.query<CallbackSummary>(
    `select id, role, action, message_id as "messageId", destination, receiver, state, attempts, last_status as "lastStatus",
       last_error as "lastError", created_at as "createdAt", due_at as "dueAt", give_up_at as "giveUpAt",
       settled_at as "settledAt", length(body) as "bodyBytes"
     from work.callback
     where ${state ? states[state] : 'true'} and ($1::text is null or role = $1) and ($2::text is null or message_id = $2)
       and ${receiver === undefined ? '$3::text is null' : 'receiver = $3'} and ($4::bigint is null or id < $4)
     order by id desc limit $5`,
    [role, messageId, receiver, before, limit],
  );
  return rows;
}

/**
 * Sends refused and parked callbacks again, the same bytes: one, those to a receiver, or all. Returns how many.
 *
 * @param giveUpAfterMs for how long they are tried
 */
export async function replayCallbacks(
  database: Database,
  { id, receiver, giveUpAfterMs }: { id?: number; receiver?: string; giveUpAfterMs: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update work.callback set state = 'open', due_at = now(), attempts = 0, give_up_at = ${dueIn('$3')}, settled_at = null
       where ($1::bigint is null or id = $1) and ($2::text is null or receiver = $2) and ${states.parked}`,
      [id, receiver, giveUpAfterMs],
    );
    if (rowCount > 0) tx.hint(callbacksChannel);
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

/**
 * By name; only those that have some waiting, or parked, where that is asked for. The distinct receivers are found by a loose index scan: one probe for each, however many callbacks wait for it.
 *
 * @param counted waiting and parked ones are counted up to this number, for each receiver
 */
export async function listCallbackReceivers(
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
  const { rows } = await queryable.query<CallbackReceiver>(
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
  return rows;
}
