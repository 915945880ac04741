import { deleteBefore } from '../delete-in-batches.ts';
import { sql } from '../sql.ts';
import { isParked } from '../work/parked.ts';

// Pushes are kept as long as their receiver may be told more of a catalog. What is forgotten here would begin anew, with the whole catalog, should the catalog
// match a subscription of the receiver again.

export const purgeWithdrawn = deleteBefore(
  (before, limit) => sql`delete from catalog.push where state = 'withdrawn' and due_at is null and id in (
     select id from catalog.push where state = 'withdrawn' and sent_timestamp < ${before} order by sent_timestamp limit ${limit} for update skip locked
   )`,
);

/** Forgets pushes that have been parked since before a time, where their receiver has no ACTIVE subscription any more; returns how many. */
export const purgeParkedPushes = deleteBefore(
  (before, limit) => sql`delete from catalog.push where ${isParked.push} and due_at is null and id in (
     select id from catalog.push where ${isParked.push}
       and coalesce(failing_since, sent_timestamp, '-infinity') < ${before}
       and not exists (select from catalog.subscription where owner = subscriber and status = 'ACTIVE')
     limit ${limit} for update skip locked
   )`,
);
