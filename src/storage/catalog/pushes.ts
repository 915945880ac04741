import type { CatalogType } from '../../protocol/catalog.ts';
import type { Interest } from '../../rules/match.ts';
import type { CatalogState } from '../../rules/push-message.ts';
import type { PushRecord, PushState } from '../../rules/push-outcome.ts';
import type { BodyForm } from '../../rules/strict-form.ts';
import type { Database, Transaction } from '../database.ts';
import { LeaseLost } from '../work/due-work.ts';
import { dueIn } from '../work/leases.ts';

// What each subscriber has acknowledged of each catalog: one row for both. A row that is due says only that there may be something to say;
// what it is, is computed from the row and the catalog when it is sent. Whoever holds the lease of a subscriber's lane, and nobody else, sends
// to it and writes its rows: a change goes to many subscribers at once, and both is done for many rows by one statement.

/** The table of due work, the column that names its lanes, and the channel that tells of new work. */
export const pushLanes = { table: 'catalog.push_lane', name: 'subscriber', channel: 'pushes' } as const;

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

/** What a push is computed from. */
export interface PushBasis {
  /** The context.timestamp of the push: later than that of the one before. */
  timestamp: Date;
  catalogId: string;
  type: CatalogType;
  catalog: CatalogState;
  /** The ACTIVE subscriptions of the receiver. */
  interests: Interest[];
  /** Of what changed the catalog last. */
  traceparent: string | null;
}

/**
 * Takes due pushes of the lanes, the longest due first, as many as each has slots, without those that are under way. They are marked as
 * about to leave: found marked later, they may have left, and nobody knows what became of them.
 */
export async function takePushes(
  database: Database,
  lanes: readonly (HeldLane & { slots: number; underWay: readonly number[] })[],
): Promise<DuePush[]> {
  const { rows } = await database.query<DueRow>(
    takeStatement(
      `select waiting.* from jsonb_to_recordset($1) as given (name text, token uuid, slots integer, "underWay" bigint[])
       join catalog.push_lane on subscriber = given.name and lease_token = given.token
       cross join lateral (
         select id, in_flight from catalog.push
         where push.subscriber = given.name and push.due_at <= now() and id <> all(given."underWay")
         order by push.due_at limit given.slots
       ) as waiting`,
    ),
    [JSON.stringify(lanes)],
  );
  return rows.map(toDuePush);
}

/** The same pushes anew, because they waited or their catalogs moved on; undefined for those whose lanes are not held any more. */
export async function retakePushes(
  database: Database,
  taken: readonly { push: DuePush; lane: HeldLane }[],
): Promise<(DuePush | undefined)[]> {
  const { rows } = await database.query<DueRow>(
    takeStatement(
      `select push.id, given.in_flight from jsonb_to_recordset($1) as given (id bigint, name text, token uuid, in_flight boolean)
       join catalog.push_lane on subscriber = given.name and lease_token = given.token join catalog.push on push.id = given.id`,
    ),
    [
      JSON.stringify(
        taken.map(({ push: { id, record }, lane }) => ({
          ...{ id, name: lane.name, token: lane.token, in_flight: record.inFlight },
        })),
      ),
    ],
  );
  const found = new Map(rows.map((row) => [row.id, toDuePush(row)]));
  return taken.map(({ push }) => found.get(push.id));
}

/** All but the history. */
const takenColumns = [
  ...['id', 'subscriber', 'catalog_key', 'acknowledged_version', 'needs_full', 'withdrawn', 'told_networks'],
  ...[
    'sent_timestamp',
    'part_bytes',
    'state',
    'last_status',
    'last_error',
    'form',
    'attempts',
    'failing_since',
  ],
]
  .map((column) => `push.${column}`)
  .join(', ');

function takeStatement(chosen: string): string {
  return `with chosen as materialized (${chosen}), marked as (
      update catalog.push
      set in_flight = true, sent_timestamp = greatest(now(), push.sent_timestamp + interval '1 millisecond')
      from chosen where push.id = chosen.id
      returning ${takenColumns}, chosen.in_flight as was_in_flight
    ), interests as (
      select owner, jsonb_agg(jsonb_build_object('networkIds', network_ids, 'schemaTypes', schema_ids)) as interests
      from catalog.subscription where status = 'ACTIVE' and owner in (select subscriber from marked) group by owner
    )
    select marked.*, catalog.id as catalog_id, type, visible_to, schema_types, version, full_version, is_active, traceparent,
      coalesce(interests, '[]') as interests, now() as taken_at
    from marked join catalog.catalog on catalog.key = marked.catalog_key left join interests on interests.owner = subscriber`;
}

interface DueRow {
  id: number;
  subscriber: string;
  catalog_key: number;
  acknowledged_version: number | null;
  needs_full: boolean;
  was_in_flight: boolean;
  withdrawn: boolean;
  told_networks: string[];
  sent_timestamp: Date;
  part_bytes: number | null;
  state: PushState;
  last_status: number | null;
  last_error: string | null;
  form: BodyForm | null;
  attempts: number;
  failing_since: Date | null;
  catalog_id: string;
  type: CatalogType;
  visible_to: string[];
  schema_types: string[];
  version: number;
  full_version: number;
  is_active: boolean;
  interests: Interest[];
  traceparent: string | null;
  taken_at: Date;
}

function toDuePush(row: DueRow): DuePush {
  return {
    id: row.id,
    subscriber: row.subscriber,
    catalogKey: row.catalog_key,
    takenAt: row.taken_at,
    takenMs: performance.now(),
    record: {
      acknowledgedVersion: row.acknowledged_version,
      needsFull: row.needs_full,
      inFlight: row.was_in_flight,
      withdrawn: row.withdrawn,
      networks: row.told_networks,
      state: row.state,
      partBytes: row.part_bytes,
      attempts: row.attempts,
      failingSince: row.failing_since,
      lastStatus: row.last_status,
      lastError: row.last_error,
      form: row.form,
    },
    basis: {
      timestamp: row.sent_timestamp,
      catalogId: row.catalog_id,
      type: row.type,
      interests: row.interests,
      traceparent: row.traceparent,
      catalog: {
        networkIds: row.visible_to,
        schemaTypes: new Set(row.schema_types),
        version: row.version,
        fullVersion: row.full_version,
        isActive: row.is_active,
      },
    },
  };
}

/** Marks a further part of a push that was taken; returns its timestamp, later than that of the part before. */
export async function beginPart(database: Database, id: number, lane: HeldLane): Promise<Date> {
  const { rows } = await database.query<{ sent_timestamp: Date }>(
    `update catalog.push
     set in_flight = true, sent_timestamp = greatest(now(), sent_timestamp + interval '1 millisecond')
     from catalog.push_lane as lane
     where push.id = $1 and lane.subscriber = $2 and lane.lease_token = $3 returning sent_timestamp`,
    [id, lane.name, lane.token],
  );
  if (rows[0] === undefined) throw new LeaseLost('catalog.push', id);
  return rows[0].sent_timestamp;
}

/** A push that is due further ahead than any waits is due at once (see work/pull-forward.ts). */
export async function pullPushesForward(database: Database, longestWaitMs: number): Promise<void> {
  const { rowCount } = await database.query(
    `with far as materialized (
       select id from catalog.push where due_at > ${dueIn('$1')} order by id for no key update skip locked
     ), pulled as (
       update catalog.push set due_at = now(), rest_until = null from far where push.id = far.id returning subscriber
     )
     update catalog.push_lane set due_at = least(due_at, now()) where subscriber in (select subscriber from pulled)`,
    [longestWaitMs],
  );
  if (rowCount > 0) database.hint(pushLanes.channel);
}

/** Milliseconds until the next push of a lane is due, also one that is due already; null when none is. */
export async function nextPushDue(tx: Transaction, subscriber: string): Promise<number | null> {
  const { rows } = await tx.query<{ ms: number | null }>(
    `select (extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
     from catalog.push where subscriber = $1 and due_at is not null`,
    [subscriber],
  );
  return rows[0]?.ms ?? null;
}

/** Milliseconds until one of them becomes due that is not yet; undefined when there is none. */
export async function msUntilNextPush(
  database: Database,
  subscribers: readonly string[],
): Promise<number | undefined> {
  const { rows } = await database.query<{ ms: number | null }>(
    `select (extract(epoch from min(next) - now()) * 1000)::float8 as ms
     from unnest($1::text[]) as name cross join lateral (
       select min(due_at) as next from catalog.push where subscriber = name and due_at > now()
     ) as waiting`,
    [subscribers],
  );
  return rows[0]?.ms ?? undefined;
}
