import type { Queryable } from './database.ts';

const defaultBatch = 1_000;

/** Deletes rows in short transactions; returns how many. The last parameter of `text` is the size of a batch. */
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

/** Makes a function that deletes rows from before a time, and returns how many. The parameters of `text` are the time and the size of a batch. */
export function deleteBefore(text: string, batch?: number) {
  return (queryable: Queryable, before: Date) => deleteInBatches(queryable, text, [before], batch);
}
