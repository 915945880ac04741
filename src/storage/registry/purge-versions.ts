import type { Queryable } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';

/** Forgets versions of records that were followed by another one before a time: what a record was at any moment since then stays known. Returns how many. */
export function purgeVersions(queryable: Queryable, before: Date): Promise<number> {
  return deleteInBatches(
    queryable,
    `delete from registry.record_version where ctid = any (array(
       select old.ctid from registry.record_version as old where exists (
         select from registry.record_version as later
         where (later.namespace, later.registry_name, later.record_id) = (old.namespace, old.registry_name, old.record_id)
           and later.version > old.version and later.recorded_at < $1
       ) limit $2
     ))`,
    [before],
  );
}
