import type { Queryable } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { countOrEstimate, countUpTo, deliveries } from './counts.ts';

// Numbers of waiting work, and of the index, for /metrics. Every statement reads a bounded number of rows through an index, however long the queues are.

/** Nobody waits for these numbers. */
const timeoutMs = 2_000;

export const deliveryKinds = ['callback', 'push'] as const;
export const deliveryStates = ['waiting', 'parked'] as const;
type DeliveryKind = (typeof deliveryKinds)[number];
export type DeliveryState = (typeof deliveryStates)[number];

export interface DeliveryBacklog {
  kind: DeliveryKind;
  state: DeliveryState;
  total: number;
  receivers: { receiver: string; count: number; seconds: number }[];
}

/** Maximum of oldest callbacks that are read; for pushes, maximum subscribers and maximum of each. */
const looked = { callbacks: 20_000, subscribers: 500, pushesOfEach: 1_000 };
const countedRows = 10_000;

const callbacks = {
  // By state, because the index on it has the ids in their order.
  waiting: sql`work.callback where state = 'open'`,
  parked: deliveries.parkedCallbacks,
};
const pushes = { waiting: deliveries.waitingPushes, parked: deliveries.parkedPushes };

/** SQL: rows of receivers, the oldest first. Ids rise with time, and indexes have them. */
function callbackReceivers(state: DeliveryState): Sql {
  const since = state === 'waiting' ? sql`created_at` : sql`coalesce(settled_at, created_at)`;
  return sql`select receiver, count(*) as count, extract(epoch from now() - min(since))::float8 as seconds
    from (select receiver, ${since} as since from ${callbacks[state]} order by id limit ${looked.callbacks}) as looked
    group by receiver`;
}

function pushReceivers(state: DeliveryState): Sql {
  const since =
    state === 'waiting' ? sql`coalesce(failing_since, due_at)` : sql`coalesce(failing_since, sent_timestamp)`;
  return sql`select lane.subscriber as receiver, count, seconds
    from (select subscriber from catalog.push_lane order by due_at nulls last limit ${looked.subscribers}) as lane
    cross join lateral (
      select count(*) as count, coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds
      from (
        select ${since} as since from ${pushes[state]} and subscriber = lane.subscriber limit ${looked.pushesOfEach}
      ) as looked
    ) as backlog where count > 0`;
}

export async function measureDeliveries(queryable: Queryable): Promise<DeliveryBacklog[]> {
  const total = (rows: Sql, relation: string) => countOrEstimate(countedRows, rows, relation);
  const rows = await queryable.rows<DeliveryBacklog>(
    sql`select kind, state, total, receivers from (values
       ('callback', 'waiting', ${total(callbacks.waiting, 'work.callback_due')}, ${asJson(callbackReceivers('waiting'))}),
       ('callback', 'parked', ${total(callbacks.parked, 'work.callback_parked')}, ${asJson(callbackReceivers('parked'))}),
       ('push', 'waiting', ${total(pushes.waiting, 'catalog.push_due')}, ${asJson(pushReceivers('waiting'))}),
       ('push', 'parked', ${total(pushes.parked, 'catalog.push_parked')}, ${asJson(pushReceivers('parked'))})
     ) as backlog (kind, state, total, receivers)`,
    { timeoutMs },
  );
  return rows.map((row) => ({ ...row, total: Math.max(row.total, 0), receivers: row.receivers ?? [] }));
}

function asJson(receivers: Sql): Sql {
  return sql`(select jsonb_agg(receivers order by seconds desc) from (${receivers}) as receivers)`;
}

interface IndexMeasure {
  catalogs: number;
  resources: number;
  offers: number;
  bytes: number;
  /** Age of the oldest change that waits, in seconds: for its processing, for its push. */
  publishLag: number;
  pushLag: number;
  failingCatalogs: number;
}

export function measureIndex(queryable: Queryable): Promise<IndexMeasure | undefined> {
  const age = (since: Sql, rows: Sql) =>
    sql`coalesce((select extract(epoch from now() - min(since)) from (select ${since} as since from ${rows} limit ${countedRows}) as looked), 0)::float8`;
  return queryable.first<IndexMeasure>(
    sql`select ${countOrEstimate(countedRows, sql`discovery.catalog`, 'discovery.catalog')} as catalogs,
       ${countOrEstimate(countedRows, sql`discovery.resource`, 'discovery.resource')} as resources,
       ${countOrEstimate(countedRows, sql`discovery.offer`, 'discovery.offer')} as offers,
       (select sum(pg_total_relation_size(oid))::float8 from pg_class where relnamespace::regnamespace::text ~ '^(discovery|index_[0-9]+)$' and relkind = 'r') as bytes,
       ${age(sql`accepted_at`, sql`catalog.submission where done_at is null`)} as "publishLag",
       ${age(sql`coalesce(failing_since, due_at)`, pushes.waiting)} as "pushLag",
       ${countUpTo(countedRows, sql`discovery.crawl_target where failures > 0`)} as "failingCatalogs"`,
    { timeoutMs },
  );
}
