import type { PushRecord } from '../../rules/push-outcome.ts';
import type { Database } from '../database.ts';
import { appendHistory } from '../work/history.ts';
import { dueIn } from '../work/leases.ts';
import type { DuePush, HeldLane } from './pushes.ts';

export interface PushResult {
  push: DuePush;
  lane: HeldLane;
  record: PushRecord;
  /** The version that it was computed from. */
  seenVersion: number;
  dueInMs: number | null;
  restMs?: number;
  /** What is added to the history, as JSON text. */
  history?: string;
}

/**
 * Writes what became of pushes. One that was called for again, for a version that it was not computed from, is due at once, unless its
 * receiver asked for time. One that an operator skipped while it was on its way stays skipped, unless its receiver has taken it. Returns for each whether its
 * lane was still held: otherwise nothing was written.
 */
export async function writePushResults(
  database: Database,
  results: readonly PushResult[],
): Promise<boolean[]> {
  const { rows } = await database.query<{ id: number }>(
    `update catalog.push
     set acknowledged_version = given.acknowledged_version, needs_full = given.needs_full or ${isGivenUp}, in_flight = given.in_flight,
       withdrawn = given.withdrawn, told_networks = given.told_networks, part_bytes = given.part_bytes,
       attempts = case when ${startsAfresh} then 0 else given.attempts end,
       failing_since = case when ${startsAfresh} then null else given.failing_since end,
       history = ${appendHistory('push.history', 'given.history')}, last_status = given.last_status, last_error = given.last_error, form = given.form,
       state = case when ${isGivenUp} then 'skipped' when ${isStillWanted} then 'pending' else given.state end,
       rest_until = ${dueIn('given.rest_ms')},
       due_at = case when ${isGivenUp} then null when ${isStillWanted} then greatest(now(), ${dueIn('given.rest_ms')})
         else ${dueIn('given.due_in_ms')} end
     from jsonb_to_recordset($1) as given (id bigint, name text, token uuid, seen_version integer, acknowledged_version integer,
       needs_full boolean, in_flight boolean, withdrawn boolean, told_networks text[], part_bytes integer, attempts integer,
       failing_since timestamptz, last_status integer, last_error text, form text, state text, due_in_ms float8, rest_ms float8, history text)
     join catalog.push_lane as lane on lane.subscriber = given.name and lane.lease_token = given.token
     where push.id = given.id
     returning push.id`,
    [JSON.stringify(results.map(toRow))],
  );
  const forgotten = results.filter(({ record }) => isWorthNothing(record)).map(({ push }) => push.id);
  if (forgotten.length > 0)
    await database.query(
      "delete from catalog.push where id = any($1) and due_at is null and state <> 'skipped'",
      [forgotten],
    );
  const written = new Set(rows.map(({ id }) => id));
  return results.map(({ push }) => written.has(push.id));
}

/** Whatever is called for after it was skipped makes it pending again (push-planning.ts). */
const isGivenUp = `(push.state = 'skipped' and given.state <> 'withdrawn'
  and not (given.state = 'acknowledged' and coalesce(given.acknowledged_version, 0) >= push.wanted_version))`;
const isStillWanted = 'push.wanted_version > given.seen_version';
/** As a parked push does that a new version makes due (push-planning.ts). */
const startsAfresh = `(given.state = 'parked' and ${isStillWanted})`;

function toRow({ push, lane, record, seenVersion, dueInMs, restMs, history }: PushResult) {
  return {
    id: push.id,
    name: lane.name,
    token: lane.token,
    seen_version: seenVersion,
    acknowledged_version: record.acknowledgedVersion,
    needs_full: record.needsFull,
    in_flight: record.inFlight,
    withdrawn: record.withdrawn,
    told_networks: record.networks,
    part_bytes: record.partBytes,
    attempts: record.attempts,
    failing_since: record.failingSince,
    last_status: record.lastStatus,
    last_error: record.lastError,
    form: record.form,
    state: record.state,
    due_in_ms: dueInMs,
    rest_ms: restMs,
    history,
  };
}

/** At rest with a subscriber that never got anything. */
function isWorthNothing({ state, acknowledgedVersion, inFlight }: PushRecord): boolean {
  return state === 'acknowledged' && acknowledgedVersion === null && !inFlight;
}
