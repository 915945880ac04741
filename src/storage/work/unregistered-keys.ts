import type { UnregisteredKey } from '../../rules/troubles.ts';
import type { Queryable } from '../database.ts';

// Signing keys of running roles that the registry does not have. Each process writes its own, so that whoever looks into the database sees those of all processes.

/** A process looks every 30 s for a key that is missing: an older row is that of a process that has ended. */
const freshFor = `interval '2 minutes'`;

export async function noteUnregistered(
  queryable: Queryable,
  { role, subscriberId, recordId, publicKey, problem, since }: UnregisteredKey,
): Promise<void> {
  await queryable.query(
    `with ended as (
       delete from work.unregistered_key
       where seen_at < now() - ${freshFor} and (role, subscriber_id, record_id, public_key) <> ($1, $2, $3, $4)
     )
     insert into work.unregistered_key (role, subscriber_id, record_id, public_key, problem, since, seen_at) values ($1, $2, $3, $4, $5, $6, now())
     on conflict (role, subscriber_id, record_id, public_key) do update
       set problem = excluded.problem, since = excluded.since, seen_at = excluded.seen_at`,
    [role, subscriberId, recordId, publicKey, problem, since],
  );
}

export async function forgetUnregistered(
  queryable: Queryable,
  { role, subscriberId, recordId, publicKey }: Omit<UnregisteredKey, 'problem' | 'since'>,
): Promise<void> {
  await queryable.query(
    'delete from work.unregistered_key where role = $1 and subscriber_id = $2 and record_id = $3 and public_key = $4',
    [role, subscriberId, recordId, publicKey],
  );
}

export function listUnregisteredKeys(queryable: Queryable) {
  return queryable.rows<UnregisteredKey>(
    `select role, subscriber_id as "subscriberId", record_id as "recordId", public_key as "publicKey", problem, since
     from work.unregistered_key where seen_at >= now() - ${freshFor} order by role, subscriber_id, record_id, public_key`,
  );
}
