import type { Database, Queryable, Transaction } from './database.ts';
import { type Claim, LeaseLost, settle } from './due-work.ts';

// What each Discovery Service has acknowledged of each catalog: one row for both. A row that is due says only that there may be something
// to say; what it is, is computed from the row and the catalog when it is sent.

/** The table of due work, and the channel that tells of new rows in it. */
export const pushTable = 'catalog.push';
export const pushesChannel = 'pushes';

/** The row of a claimed push. */
export interface DuePush {
  subscriber: string;
  catalog_key: number;
  acknowledged_version: number | null;
  needs_full: boolean;
  in_flight: boolean;
  withdrawn: boolean;
  told_networks: string[];
  part_bytes: number | null;
  failing_since: Date | null;
}

export const pushColumns = [
  ...['subscriber', 'catalog_key', 'acknowledged_version', 'needs_full', 'in_flight', 'withdrawn'],
  ...['told_networks', 'part_bytes', 'failing_since'],
] as const satisfies (keyof DuePush)[];

/** Marks a further part of a push that was begun; returns its timestamp, later than that of the part before. */
export async function beginPart(database: Database, claim: Claim<DuePush>, now: Date): Promise<Date> {
  const { rows } = await database.query<{ sent_timestamp: Date }>(
    `update catalog.push
     set in_flight = true, sent_timestamp = greatest($3::timestamptz, sent_timestamp + interval '1 millisecond')
     where id = $1 and lease_token = $2 returning sent_timestamp`,
    [claim.id, claim.token, now],
  );
  if (rows[0] === undefined) throw new LeaseLost(pushTable, claim.id);
  return rows[0].sent_timestamp;
}

/** There was nothing to say. Of a catalog that the receiver never got, nothing needs to be remembered. */
export async function recordNothing(tx: Transaction, claim: Claim<DuePush>): Promise<void> {
  const { withdrawn, in_flight, acknowledged_version } = claim.row;
  const set = { ...fresh, state: withdrawn ? 'withdrawn' : 'acknowledged', in_flight };
  await settle(tx, pushTable, claim, { dueAt: null, set });
  if (acknowledged_version === null && !in_flight)
    await tx.query('delete from catalog.push where id = $1 and due_at is null', [claim.id]);
}

/** There is nowhere to send it: looked at again with the next change. */
export async function recordNoEndpoint(tx: Transaction, claim: Claim<DuePush>, error: string): Promise<void> {
  const { in_flight } = claim.row;
  const set = { ...fresh, state: 'no endpoint', in_flight, last_status: null, last_error: error };
  await settle(tx, pushTable, claim, { dueAt: null, set });
}

export interface Failure {
  status?: number;
  error: string;
  needsFull: boolean;
  /** It may have arrived all the same. */
  lost: boolean;
  partBytes?: number;
}

/** Refused, or tried for as long as it may be: the next change makes it due again, or an operator. */
export async function recordParked(tx: Transaction, claim: Claim<DuePush>, failure: Failure): Promise<void> {
  const set = { ...failed(claim, failure), state: 'parked' };
  await settle(tx, pushTable, claim, { dueAt: null, set });
}

/** Tried again at that time and not before, whatever changes until then: the push will be computed anew anyway. */
export async function recordRetry(
  tx: Transaction,
  claim: Claim<DuePush>,
  { failingSince, dueAt, ...failure }: Failure & { failingSince: Date; dueAt: Date },
): Promise<void> {
  await tx.query('update catalog.push set due_at = leased_until where id = $1 and lease_token = $2', [
    claim.id,
    claim.token,
  ]);
  const set = { ...failed(claim, failure), state: 'pending', failing_since: failingSince };
  await settle(tx, pushTable, claim, { dueAt, set });
}

/** 413: cut smaller and tried again at once, which does not count as an attempt. */
export async function recordSmaller(
  tx: Transaction,
  claim: Claim<DuePush>,
  { now, ...failure }: Failure & { partBytes: number; now: Date },
): Promise<void> {
  const set = { ...failed(claim, failure), state: 'pending', attempts: claim.attempts - 1 };
  await settle(tx, pushTable, claim, { dueAt: now, set });
}

/** What no attempt under way, and none that failed, leaves behind. */
export const fresh = { in_flight: false, failing_since: null, attempts: 0 };

/** What was unknown before this push stays so until one is acknowledged. */
function failed({ row }: Claim<DuePush>, { status, error, needsFull, lost, partBytes }: Failure) {
  return {
    in_flight: lost || row.in_flight,
    needs_full: needsFull || row.needs_full,
    part_bytes: partBytes ?? row.part_bytes,
    last_status: status ?? null,
    last_error: error,
  };
}

export type PushState = 'pending' | 'acknowledged' | 'withdrawn' | 'parked' | 'no endpoint';

export interface PushFilter {
  subscriber?: string;
  states?: readonly PushState[];
  limit: number;
  offset: number;
}

/** A push as an operator sees it. */
export interface PushSummary {
  id: number;
  subscriber: string;
  catalogId: string;
  state: PushState;
  /** What the subscriber has, and what there is. */
  acknowledgedVersion: number | null;
  version: number;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  failingSince: Date | null;
  /** The next attempt, or, while one is under way, the end of its lease. */
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
    const { rowCount } = await tx.query(
      `update catalog.push set state = 'pending', due_at = now(), attempts = 0, failing_since = null
       where state in ('parked', 'no endpoint') and ($1::bigint is null or id = $1)`,
      [id],
    );
    if (rowCount > 0) tx.hint(pushesChannel);
    return rowCount;
  });
}
