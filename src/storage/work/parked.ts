import { sql } from '../sql.ts';

/** Deliveries without automatic retries, as in partial indexes. */
export const isParked = {
  callback: sql`state in ('refused', 'parked')`,
  push: sql`state in ('parked', 'no endpoint')`,
};
