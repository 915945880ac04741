import type { CatalogType } from '../../protocol/catalog.ts';
import type { Interest } from '../../rules/match.ts';
import type { CatalogState } from '../../rules/push-message.ts';
import type { PushRecord } from '../../rules/push-outcome.ts';
import type { Database, Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { LeaseLost } from '../work/due-work.ts';
import { dueIn } from '../work/leases.ts';

// The state of each catalog for each subscriber, acknowledged and due, in one row. A due row means only that there may be something to push;
// the push is computed from the row and the catalog when it is sent. Only the holder of the lease of a subscriber's lane sends
// to it and writes its rows: a change goes to many subscribers at once, and one statement handles many rows.

/** The table of due work, which also names the channel of its hints, and the column with the names of its lanes. */
export const pushLanes = { table: 'catalog.push_lane', name: 'subscriber' } as const;

export interface HeldLane {
  name: string;
  token: string;
}

export interface DuePush {
  id: number;
  subscriber: string;
  catalogKey: number;
  record: PushRecord;
  /** Read at the same moment as the record. */
  basis: PushBasis;
  /** When it was taken: by the database's clock, and by this process's monotonic one. */
  takenAt: Date;
  takenMs: number;
}

interface PushBasis {
  /** The context.timestamp of the push: later than that of the previous one. */
  timestamp: Date;
  catalogId: string;
  type: CatalogType;
  catalog: CatalogState;
  interests: Interest[];
  traceparent: string | null;
}

/** Takes due pushes of the lanes, the longest due first, up to the slots of each, and marks them as in flight: one that is still marked later may or may not have been sent. */
export async function takePushes(
  database: Database,
  lanes: readonly (HeldLane & { slots: number; underWay: readonly number[] })[],
): Promise<DuePush[]> {
  const waiting = sql`
    select waiting.* from jsonb_to_recordset(${JSON.stringify(lanes)}) as given (name text, token uuid, slots integer, "underWay" bigint[])
    join catalog.push_lane on subscriber = given.name and lease_token = given.token
    cross join lateral (
      select id, in_flight from catalog.push
      where push.subscriber = given.name and push.due_at <= now() and id <> all(given."underWay")
      order by push.due_at limit given.slots
    ) as waiting`;
  return markTaken(database, waiting);
}

/** Reads the same pushes again, because they waited or their catalogs changed; undefined for those whose lanes are no longer held. */
export async function retakePushes(database: Database, taken: readonly { push: DuePush; lane: HeldLane }[]) {
  const held = taken.map(({ push, lane: { name, token } }) => ({ ...push.record, id: push.id, name, token }));
  const stillHeld = sql`select push.id, given."inFlight" as in_flight
    from jsonb_to_recordset(${JSON.stringify(held)}) as given (id bigint, name text, token uuid, "inFlight" boolean)
    join catalog.push_lane on subscriber = given.name and lease_token = given.token join catalog.push on push.id = given.id`;
  const pushes = await markTaken(database, stillHeld);
  const found = new Map(pushes.map((push) => [push.id, push]));
  return taken.map(({ push }) => found.get(push.id));
}

async function markTaken(database: Database, chosen: Sql): Promise<DuePush[]> {
  const rows = await database.rows<DueRow>(sql`with chosen as materialized (${chosen}), marked as (
      update catalog.push
      set in_flight = true, sent_timestamp = greatest(now(), push.sent_timestamp + interval '1 millisecond')
      from chosen where push.id = chosen.id
      returning push.*, chosen.in_flight as was_in_flight
    ), interests as (
      select owner, jsonb_agg(jsonb_build_object('networkIds', network_ids, 'schemaTypes', schema_ids)) as interests
      from catalog.subscription where status = 'ACTIVE' and owner in (select subscriber from marked) group by owner
    )
    select marked.id, subscriber, catalog_key as "catalogKey", now() as "takenAt", acknowledged_version as "acknowledgedVersion",
      needs_full as "needsFull", was_in_flight as "inFlight", withdrawn, told_networks as networks, state, part_bytes as "partBytes", attempts,
      failing_since as "failingSince", last_status as "lastStatus", last_error as "lastError", form, sent_timestamp as timestamp,
      catalog.id as "catalogId", type, coalesce(interests, '[]') as interests, traceparent, visible_to as "networkIds",
      schema_types as "schemaTypes", version, full_version as "fullVersion", is_active as "isActive"
    from marked join catalog.catalog on catalog.key = marked.catalog_key left join interests on interests.owner = subscriber`);
  return rows.map(toDuePush);
}

type DueRow = Pick<DuePush, 'id' | 'subscriber' | 'catalogKey' | 'takenAt'> &
  PushRecord &
  Omit<PushBasis, 'catalog'> &
  Omit<CatalogState, 'schemaTypes'> & { schemaTypes: string[] };

function toDuePush({ id, subscriber, catalogKey, takenAt, ...row }: DueRow): DuePush {
  const { timestamp, catalogId, type, interests, traceparent, ...rest } = row;
  const { networkIds, schemaTypes, version, fullVersion, isActive, ...record } = rest;
  const catalog = { networkIds, schemaTypes: new Set(schemaTypes), version, fullVersion, isActive };
  const basis = { timestamp, catalogId, type, interests, traceparent, catalog };
  return { id, subscriber, catalogKey, takenAt, takenMs: performance.now(), record, basis };
}

/** Marks a further part of a taken push; returns its timestamp, later than that of the previous part. */
export async function beginPart(database: Database, id: number, lane: HeldLane): Promise<Date> {
  const timestamp = await database.value<Date | undefined>(sql`update catalog.push
    set in_flight = true, sent_timestamp = greatest(now(), sent_timestamp + interval '1 millisecond')
    from catalog.push_lane as lane
    where push.id = ${id} and lane.subscriber = ${lane.name} and lane.lease_token = ${lane.token} returning sent_timestamp`);
  if (timestamp === undefined) throw new LeaseLost('catalog.push', id);
  return timestamp;
}

/** A push that is due later than any can be is made due at once (see `pullForward` in work/leases.ts). */
export async function pullPushesForward(database: Database, longestWaitMs: number): Promise<void> {
  const { rowCount } = await database.query(sql`with far as materialized (
      select id from catalog.push where due_at > ${dueIn(longestWaitMs)} order by id for no key update skip locked
    ), pulled as (
      update catalog.push set due_at = now(), rest_until = null from far where push.id = far.id returning subscriber
    )
    update catalog.push_lane set due_at = least(due_at, now()) where subscriber in (select subscriber from pulled)`);
  if (rowCount > 0) database.hint(pushLanes.table);
}

/** Milliseconds until the next push of a lane is due, including one that is already due; null if there is none. */
export function nextPushDue(tx: Transaction, subscriber: string) {
  return tx.value<number | null>(sql`select (extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
    from catalog.push where subscriber = ${subscriber} and due_at is not null`);
}

export function msUntilNextPush(database: Database, subscribers: readonly string[]) {
  return database.value<number | null>(sql`select (extract(epoch from min(next) - now()) * 1000)::float8 as ms
    from unnest(${subscribers}::text[]) as name cross join lateral (
      select min(due_at) as next from catalog.push where subscriber = name and due_at > now()
    ) as waiting`);
}
