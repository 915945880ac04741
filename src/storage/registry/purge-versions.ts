import type { Queryable } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';

/** Forgets versions of records that were followed by another one before a time: what a record was at any moment since then stays known. Returns how many. */
export function purgeVersions(queryable: Queryable, before: Date): Promise<number> {
  // The oldest first: without the one after it, a version would never be found again.
  return deleteInBatches(
    queryable,
    `delete from registry.record_version where ctid = any (array(
       select old.ctid from registry.record_version as next join registry.record_version as old
         on (old.namespace, old.registry_name, old.record_id, old.version) = (next.namespace, next.registry_name, next.record_id, next.version - 1)
       where next.recorded_at < $1 order by next.recorded_at limit $2
     ))`,
    [before],
  );
}
