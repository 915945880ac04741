import { deleteBefore } from '../delete-in-batches.ts';
import { isParked } from '../work/parked.ts';

// Pushes are kept as long as their receiver may be told more of a catalog. What is forgotten here would begin anew, with the whole catalog, should the catalog
// match a subscription of the receiver again.

/** Forgets pushes whose catalog was withdrawn from its receiver before a time; returns how many. */
export const purgeWithdrawn = deleteBefore(
  `delete from catalog.push where state = 'withdrawn' and due_at is null and id in (
     select id from catalog.push where state = 'withdrawn' and sent_timestamp < $1 order by sent_timestamp limit $2 for update skip locked
   )`,
);

/** Forgets pushes that have been parked since before a time, where their receiver has no ACTIVE subscription any more; returns how many. */
export const purgeParkedPushes = deleteBefore(
  `delete from catalog.push where ${isParked.push} and due_at is null and id in (
     select id from catalog.push where ${isParked.push}
       and coalesce(failing_since, sent_timestamp, '-infinity') < $1
       and not exists (select from catalog.subscription where owner = subscriber and status = 'ACTIVE')
     limit $2 for update skip locked
   )`,
);
