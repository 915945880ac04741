import type { PushRecord } from '../../rules/push-outcome.ts';
import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { appendHistory } from '../work/history.ts';
import { dueIn } from '../work/leases.ts';
import type { DuePush, HeldLane } from './pushes.ts';

export interface PushResult {
  push: DuePush;
  lane: HeldLane;
  record: PushRecord;
  seenVersion: number;
  dueInMs: number | null;
  restMs?: number;
  /** Addition to the history, as JSON text. */
  history?: string;
}

/**
 * Writes the results of pushes. One that was requested again, for another version than the sent one, is due at once, unless its receiver asked for
 * time. One that an operator skipped in flight stays skipped, unless its receiver has accepted it. Returns for each whether its lane was still held:
 * otherwise nothing was written.
 */
export async function writePushResults(database: Database, results: readonly PushResult[]) {
  const { rows } = await database.query<{ id: number }>(sql`update catalog.push
    set acknowledged_version = given."acknowledgedVersion", needs_full = given."needsFull" or ${isGivenUp}, in_flight = given."inFlight",
      withdrawn = given.withdrawn, told_networks = given.networks, part_bytes = given."partBytes",
      attempts = case when ${startsAfresh} then 0 else given.attempts end,
      failing_since = case when ${startsAfresh} then null else given."failingSince" end,
      history = ${appendHistory(sql`push.history`, sql`given.history`)}, last_status = given."lastStatus", last_error = given."lastError",
        form = given.form,
      state = case when ${isGivenUp} then 'skipped' when ${isStillWanted} then 'pending' else given.state end,
      rest_until = ${dueIn(sql`given."restMs"`)},
      due_at = case when ${isGivenUp} then null when ${isStillWanted} then greatest(now(), ${dueIn(sql`given."restMs"`)})
        else ${dueIn(sql`given."dueInMs"`)} end
    from jsonb_to_recordset(${JSON.stringify(results.map(toRow))}) as given (id bigint, name text,
      token uuid, "seenVersion" integer, "acknowledgedVersion" integer,
      "needsFull" boolean, "inFlight" boolean, withdrawn boolean, networks text[], "partBytes" integer, attempts integer,
      "failingSince" timestamptz, "lastStatus" integer, "lastError" text, form text, state text, "dueInMs" float8, "restMs" float8, history text)
    join catalog.push_lane as lane on lane.subscriber = given.name and lane.lease_token = given.token
    where push.id = given.id
    returning push.id`);
  const forgotten = results.filter(({ record }) => isWorthNothing(record)).map(({ push }) => push.id);
  if (forgotten.length > 0)
    await database.query(sql`delete from catalog.push
      where id = any(${forgotten}) and due_at is null and state <> 'skipped'`);
  const written = new Set(rows.map(({ id }) => id));
  return results.map(({ push }) => written.has(push.id));
}

/** A request after the skip makes it pending again (push-planning.ts). */
const isGivenUp = sql`(push.state = 'skipped' and given.state <> 'withdrawn'
  and not (given.state = 'acknowledged' and coalesce(given."acknowledgedVersion", 0) >= push.wanted_version))`;
const isStillWanted = sql`push.wanted_version > given."seenVersion"`;
/** Like a parked push that a new version makes due (push-planning.ts). */
const startsAfresh = sql`(given.state = 'parked' and ${isStillWanted})`;

function toRow({ push, lane, record, ...result }: PushResult) {
  return { ...record, ...result, id: push.id, name: lane.name, token: lane.token };
}

function isWorthNothing({ state, acknowledgedVersion, inFlight }: PushRecord): boolean {
  return state === 'acknowledged' && acknowledgedVersion === null && !inFlight;
}
