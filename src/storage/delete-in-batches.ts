import type { Queryable } from './database.ts';
import type { Sql } from './sql.ts';

const defaultBatch = 1_000;

/** Deletes rows in short transactions, a limited number each; returns how many. */
export async function deleteInBatches(
  queryable: Queryable,
  statement: (limit: number) => Sql,
  batch = defaultBatch,
): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await queryable.count(statement(batch));
    total += deleted;
    if (deleted < batch) return total;
  }
}
