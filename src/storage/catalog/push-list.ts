import type { PushState } from '../../rules/push-outcome.ts';
import type { Database, Queryable } from '../database.ts';
import { pushLanes } from './pushes.ts';

// Pushes as an operator sees them.

export interface PushFilter {
  subscriber?: string;
  states?: readonly PushState[];
  limit: number;
  offset: number;
}

export interface PushSummary {
  id: number;
  subscriber: string;
  catalogId: string;
  state: PushState;
  /** What the subscriber has, and what there is. */
  acknowledgedVersion: number | null;
  version: number;
  /** How often it failed in a row. */
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  failingSince: Date | null;
  /** The next attempt; in the past while one is under way. */
  dueAt: Date | null;
}

/** By subscriber and catalog. */
export async function listPushes(
  queryable: Queryable,
  { subscriber, states, limit, offset }: PushFilter,
): Promise<PushSummary[]> {
  const { rows } = await queryable.query<PushSummary>(
    `select push.id, subscriber, catalog.id as "catalogId", state, acknowledged_version as "acknowledgedVersion", version,
       attempts, last_status as "lastStatus", last_error as "lastError", failing_since as "failingSince", due_at as "dueAt"
     from catalog.push join catalog.catalog on catalog.key = push.catalog_key
     where ($1::text is null or subscriber = $1) and ($2::text[] is null or state = any($2))
     order by subscriber, catalog.id limit $3 offset $4`,
    [subscriber, states, limit, offset],
  );
  return rows;
}

/** Makes parked pushes due, and those that had no endpoint: the one with this id, or all. Returns how many. */
export async function replayPushes(database: Database, id?: number): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ count: number }>(
      `with replayed as (
         update catalog.push set state = 'pending', due_at = now(), attempts = 0, failing_since = null
         where state in ('parked', 'no endpoint') and ($1::bigint is null or id = $1)
         returning subscriber
       ), lanes as (
         update catalog.push_lane set due_at = least(due_at, now()) where subscriber in (select subscriber from replayed)
       )
       select count(*) as count from replayed`,
      [id],
    );
    tx.hint(pushLanes.channel);
    return rows[0]?.count ?? 0;
  });
}
