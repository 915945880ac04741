import type { Database } from '../../../src/storage/database.ts';
import { type ClaimOptions, takeDue } from '../../../src/storage/work/claim-due.ts';

/** Claims due rows as a loop does. */
export async function claimDue<Row extends object = Record<string, unknown>>(
  database: Database,
  table: string,
  options: ClaimOptions,
) {
  return (await takeDue<Row>(database, table, options)).claims;
}
