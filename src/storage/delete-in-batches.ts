import type { Queryable } from './database.ts';

const defaultBatch = 1_000;

/**
 * Deletes rows in short transactions, so that nothing waits for the end of a long one; returns how many those were.
 *
 * @param text deletes one batch; its last parameter is how many rows that are at most
 */
export async function deleteInBatches(
  queryable: Queryable,
  text: string,
  values: readonly unknown[],
  batch = defaultBatch,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await queryable.query(text, [...values, batch]);
    total += rowCount;
    if (rowCount < batch) return total;
  }
}
