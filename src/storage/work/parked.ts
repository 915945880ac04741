import { sql } from '../sql.ts';

/** The deliveries that are not tried again by themselves, as partial indexes have them. */
export const isParked = {
  callback: sql`state in ('refused', 'parked')`,
  push: sql`state in ('parked', 'no endpoint')`,
};
