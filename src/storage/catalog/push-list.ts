import type { PushRecord } from '../../rules/push-outcome.ts';
import type { Database, Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import type { CallbackReceiver, ReceiverPage } from '../work/callback-list.ts';
import type { PastExchange } from '../work/history.ts';
import { isParked } from '../work/parked.ts';
import { pushLanes } from './pushes.ts';

// Pushes as an operator sees them.

interface PushFilter {
  /** Only this one, with its history. */
  id?: number;
  subscriber?: string;
  /** Pending; parked or without an endpoint; acknowledged, withdrawn or skipped. */
  state?: 'open' | 'parked' | 'delivered';
  limit: number;
  after?: { subscriber: string; catalogKey: number };
}

export interface PushSummary
  extends Omit<PushRecord, 'needsFull' | 'inFlight' | 'withdrawn' | 'networks' | 'partBytes'> {
  id: number;
  subscriber: string;
  catalogKey: number;
  catalogId: string;
  version: number;
  /** The next attempt; in the past while one is under way. */
  dueAt: Date | null;
  /** Only where one push was asked for. */
  history: PastExchange[] | null;
}

/** As partial indexes have them. */
const states = {
  open: sql`state = 'pending' and due_at is not null`,
  parked: isParked.push,
  delivered: sql`state in ('acknowledged', 'withdrawn', 'skipped')`,
};

export function listPushes(queryable: Queryable, { id, subscriber, state, limit, after }: PushFilter) {
  return queryable.rows<PushSummary>(sql`
    select push.id, subscriber, catalog_key as "catalogKey", catalog.id as "catalogId", state,
      acknowledged_version as "acknowledgedVersion", version, attempts, last_status as "lastStatus", last_error as "lastError", form,
      failing_since as "failingSince", due_at as "dueAt", ${id === undefined ? sql`null` : sql`history`} as history
    from (
      select * from catalog.push
      where ${state ? states[state] : sql`true`} and ${id === undefined ? sql`true` : sql`push.id = ${id}`}
        and ${subscriber === undefined ? sql`true` : sql`subscriber = ${subscriber}`}
        and ${after ? sql`(subscriber, catalog_key) > (${after.subscriber}, ${after.catalogKey})` : sql`true`}
      order by subscriber, catalog_key limit ${limit}
    ) as push join catalog.catalog on catalog.key = push.catalog_key
    order by subscriber, catalog_key`);
}

/** Makes parked pushes due, and those that had no endpoint: one, those to a subscriber, or all. Returns how many. */
export async function replayPushes(
  database: Database,
  { id, subscriber }: { id?: number; subscriber?: string } = {},
): Promise<number> {
  return database.transaction(async (tx) => {
    tx.hint(pushLanes.table);
    return tx.value<number>(sql`with replayed as (
        update catalog.push set state = 'pending', due_at = now(), attempts = 0, failing_since = null
        where ${states.parked} and (${id}::bigint is null or id = ${id}) and (${subscriber}::text is null or subscriber = ${subscriber})
        returning subscriber
      ), lanes as (
        update catalog.push_lane set due_at = least(due_at, now()) where subscriber in (select subscriber from replayed)
      )
      select count(*) as count from replayed`);
  });
}

/** Gives up a push that waits or is parked, until its catalog changes; that goes as FULL then. False when there is none under this id. */
export async function skipPush(database: Database, id: number): Promise<boolean> {
  return database.has(sql`
    update catalog.push set state = 'skipped', due_at = null, needs_full = true, attempts = 0, failing_since = null
    where id = ${id} and (state = 'pending' or ${states.parked})`);
}

export interface PushReceiver extends CallbackReceiver {
  lastAt: Date | null;
  isTroubled: boolean;
}

/** Whether something of a lane is parked, or one of those that are due next has failed. */
const isTroubled = sql`(exists (select from catalog.push where subscriber = lane.subscriber and ${states.parked}) or exists (
  select from (
    select attempts from catalog.push where subscriber = lane.subscriber and due_at is not null order by due_at limit 100
  ) as next where attempts > 0
))`;

/** By name. `troubled`: only those with, or without, something that is parked or fails. */
export function listPushReceivers(
  queryable: Queryable,
  { limit, after = '', state, troubled, counted }: ReceiverPage & { troubled: boolean },
) {
  return queryable.rows<PushReceiver>(sql`
    select subscriber as receiver, waiting, parked, "oldestWaitingAt", "nextTryAt",
      last.at as "lastAt", last.status as "lastStatus", last.error as "lastError", ${troubled}::boolean as "isTroubled"
    from (
      select subscriber from catalog.push_lane as lane
      where subscriber > ${after} and ${isTroubled} = ${troubled}
        ${state ? sql`and exists (select from catalog.push where subscriber = lane.subscriber and ${states[state]})` : sql``}
      order by subscriber limit ${limit}
    ) as lane
    cross join lateral (
      select count(*) as waiting, min(since) as "oldestWaitingAt", min(due_at) as "nextTryAt" from (
        select coalesce(failing_since, due_at) as since, due_at from catalog.push
        where subscriber = lane.subscriber and due_at is not null limit ${counted}
      ) as looked
    ) as open
    cross join lateral (
      select count(*) as parked from (
        select from catalog.push where subscriber = lane.subscriber and ${states.parked} limit ${counted}
      ) as looked
    ) as settled
    left join lateral (
      select sent_timestamp as at, last_status as status, last_error as error from (
        (select sent_timestamp, last_status, last_error from catalog.push
         where subscriber = lane.subscriber and due_at is not null limit 100)
        union all
        (select sent_timestamp, last_status, last_error from catalog.push
         where subscriber = lane.subscriber and ${states.parked} limit 100)
        union all
        (select sent_timestamp, last_status, last_error from catalog.push where subscriber = lane.subscriber limit 100)
      ) as looked
      where last_status is not null or last_error is not null order by sent_timestamp desc nulls last limit 1
    ) as last on true
    order by subscriber`);
}
