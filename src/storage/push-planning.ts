import { numberChanges, readChanges } from './change-log.ts';
import type { Database, Transaction } from './database.ts';
import { pushesChannel } from './pushes.ts';

// Turns the log of changes into pushes that are due. The cursor moves in the transaction that makes them due, and is locked while it does:
// no change is passed over, and one process plans at a time.

const planBatch = 1_000;

/** Plans what the next changes ask for; returns how many changes that were: none left, or none that this process may plan, when 0. */
export async function planPushes(database: Database): Promise<number> {
  await numberChanges(database);
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ seq: number }>(
      'select seq from catalog.push_cursor for update skip locked',
    );
    const cursor = rows[0]?.seq;
    const changes = cursor === undefined ? [] : await readChanges(tx, cursor, planBatch);
    const last = changes.at(-1);
    if (last === undefined) return 0;
    await planFor(tx, [...new Set(changes.map(({ catalogKey }) => catalogKey))]);
    await tx.query('update catalog.push_cursor set seq = $1', [last.seq]);
    tx.hint(pushesChannel);
    return changes.length;
  });
}

/**
 * Due is whoever has an ACTIVE subscription that matches, as rules/match.ts says; and, when nothing of a subscriber matches any more,
 * whoever may hold the catalog and has to be told so. A subscriber without subscriptions is told nothing; what it holds when it
 * comes back is its own affair, so that it then gets the whole catalog.
 */
async function planFor(tx: Transaction, catalogKeys: number[]): Promise<void> {
  await tx.query(
    `with matching as materialized (
       select distinct subscription.owner as subscriber, catalog.key as catalog_key
       from catalog.catalog join catalog.subscription on subscription.status = 'ACTIVE'
         and (cardinality(subscription.network_ids) = 0 or subscription.network_ids && catalog.visible_to)
         and (cardinality(subscription.schema_types) = 0 or subscription.schema_types && catalog.schema_types)
       where catalog.key = any($1) and catalog.is_active
     ), matched as (
       insert into catalog.push (subscriber, catalog_key, due_at) select subscriber, catalog_key, now() from matching
       on conflict (subscriber, catalog_key) do update set ${dueAgain}
     )
     update catalog.push set ${dueAgain}
     where catalog_key = any($1) and (in_flight or acknowledged_version is not null and not withdrawn)
       and (subscriber, catalog_key) not in (select subscriber, catalog_key from matching)
       and ${isSubscribed}`,
    [catalogKeys],
  );
  await tx.query(
    `update catalog.push set needs_full = true where catalog_key = any($1) and not needs_full and not ${isSubscribed}`,
    [catalogKeys],
  );
}

/**
 * A push that waits for its next attempt goes on waiting: the receiver may have said for how long, and it will be
 * computed anew. A parked one, or one that had no endpoint, starts afresh.
 */
const dueAgain = `
  state = 'pending',
  attempts = case push.state when 'pending' then push.attempts else 0 end,
  failing_since = case push.state when 'pending' then push.failing_since end,
  due_at = case when push.state = 'pending' and push.failing_since is not null and push.lease_token is null
    then push.due_at else least(push.due_at, now()) end`;

const isSubscribed = `exists (
  select from catalog.subscription where subscription.owner = push.subscriber and subscription.status = 'ACTIVE'
)`;
