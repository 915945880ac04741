import type { UnregisteredKey } from '../../rules/troubles.ts';
import type { Queryable } from '../database.ts';
import { newRow, sql } from '../sql.ts';

// Signing keys of running roles that the registry lacks. Each process writes its own, so the database has those of all processes.

/** A process looks for a missing key every 30 s: an older row belongs to a process that has ended. */
const freshFor = sql`interval '2 minutes'`;

export async function noteUnregistered(
  queryable: Queryable,
  { role, subscriberId, recordId, publicKey, problem, since }: UnregisteredKey,
): Promise<void> {
  const row = newRow({ role, subscriberId, recordId, publicKey, problem, since, seenAt: sql`now()` });
  await queryable.query(sql`with ended as (
      delete from work.unregistered_key
      where seen_at < now() - ${freshFor} and (role, subscriber_id, record_id, public_key) <> (${role}, ${subscriberId}, ${recordId}, ${publicKey})
    )
    insert into work.unregistered_key ${row}
    on conflict (role, subscriber_id, record_id, public_key) do update
      set problem = excluded.problem, since = excluded.since, seen_at = excluded.seen_at`);
}

export async function forgetUnregistered(
  queryable: Queryable,
  { role, subscriberId, recordId, publicKey }: Omit<UnregisteredKey, 'problem' | 'since'>,
): Promise<void> {
  await queryable.query(sql`delete from work.unregistered_key
    where role = ${role} and subscriber_id = ${subscriberId} and record_id = ${recordId} and public_key = ${publicKey}`);
}

export function listUnregisteredKeys(queryable: Queryable) {
  return queryable.rows<UnregisteredKey>(sql`
    select role, subscriber_id as "subscriberId", record_id as "recordId", public_key as "publicKey", problem, since
    from work.unregistered_key where seen_at >= now() - ${freshFor} order by role, subscriber_id, record_id, public_key`);
}
