import type { Database, Transaction } from '../database.ts';
import { sql } from '../sql.ts';
import { numberChanges, readChanges } from './change-log.ts';
import { pushLanes } from './pushes.ts';
import { subscriptionMatches } from './subscriptions.ts';

// Turns the log of changes into due pushes. The cursor moves in the transaction that makes them due, and is locked meanwhile: no change is skipped,
// and one process plans at a time.

/** Small enough that sending begins while more is planned. */
const planBatch = 100;

/** Plans the pushes of the next changes; returns how many changes that were; 0 if there are none, or none that this process may plan. */
export async function planPushes(database: Database): Promise<number> {
  await numberChanges(database);
  return database.transaction(async (tx) => {
    const cursor = await tx.value<number | undefined>(sql`select seq
      from catalog.push_cursor for update skip locked`);
    const changes = cursor === undefined ? [] : await readChanges(tx, cursor, planBatch);
    const last = changes.at(-1);
    if (last === undefined) return 0;
    await planFor(tx, [...new Set(changes.map(({ catalogKey }) => catalogKey))]);
    await tx.query(sql`update catalog.push_cursor set seq = ${last.seq}`);
    tx.hint(pushLanes.table);
    return changes.length;
  });
}

/** Pushes everything to every subscriber, whatever it acknowledged: after a restore, receivers may have later versions. Returns how many pushes are due. */
export async function pushEverything(database: Database): Promise<number> {
  for (let after = 0; ; ) {
    const keys = await database.column<number>(sql`select key from catalog.catalog
      where key > ${after} order by key limit ${planBatch}`);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
    await database.transaction((tx) => planFor(tx, keys));
  }
  // In flight: the receiver may have anything, so it also gets withdrawals.
  const { rowCount } = await database.query(sql`
    update catalog.push set needs_full = true, in_flight = true, withdrawn = false, state = 'pending', due_at = now(), rest_until = null,
      attempts = 0,
      failing_since = null
    where ${isSubscribed}`);
  await database.query(sql`
    insert into catalog.push_lane (subscriber, due_at) select distinct subscriber, now() from catalog.push where due_at is not null
    on conflict (subscriber) do update set due_at = now()`);
  return rowCount;
}

/**
 * A push is due to every subscriber with a matching ACTIVE subscription (rules/match.ts), and, if no subscription of a subscriber matches any more,
 * to one that may hold the catalog and needs a withdrawal. A subscriber without subscriptions gets nothing; when it returns, it gets the whole
 * catalog, because its copy is unknown.
 */
async function planFor(tx: Transaction, catalogKeys: number[]): Promise<void> {
  await tx.query(sql`with changed as materialized (
      select key, version, visible_to, schema_types, is_active from catalog.catalog where key = any(${catalogKeys})
    ), matching as materialized (
      select distinct subscription.owner as subscriber, changed.key as catalog_key, changed.version
      from changed join catalog.subscription on subscription.status = 'ACTIVE' and ${subscriptionMatches(sql`changed`)}
      where changed.is_active
    ), matched as (
      insert into catalog.push (subscriber, catalog_key, wanted_version, due_at)
      select subscriber, catalog_key, version, now() from matching
      on conflict (subscriber, catalog_key) do update set wanted_version = excluded.wanted_version, ${dueAgain}
      returning subscriber, due_at
    ), left_behind as (
      update catalog.push set wanted_version = changed.version, ${dueAgain}
      from changed
      where push.catalog_key = changed.key and (in_flight or acknowledged_version is not null and not withdrawn)
        and (subscriber, catalog_key) not in (select subscriber, catalog_key from matching)
        and ${isSubscribed}
      returning subscriber, due_at
    )
    insert into catalog.push_lane (subscriber, due_at)
    select distinct subscriber, now() from (select * from matched union all select * from left_behind) as wanted
    where wanted.due_at <= now()
    on conflict (subscriber) do update set due_at = least(push_lane.due_at, now())`);
  await tx.query(sql`update catalog.push set needs_full = true
    where catalog_key = any(${catalogKeys}) and not needs_full and not ${isSubscribed}`);
}

/** A new version advances a push that waits for its next attempt, unless the receiver requested that time. A parked push, or one without an endpoint, starts again. */
const dueAgain = sql`
  state = 'pending', due_at = least(push.due_at, greatest(now(), push.rest_until)),
  attempts = case push.state when 'pending' then push.attempts else 0 end,
  failing_since = case push.state when 'pending' then push.failing_since end`;

const isSubscribed = sql`exists (
  select from catalog.subscription where subscription.owner = push.subscriber and subscription.status = 'ACTIVE'
)`;
