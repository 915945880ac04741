/** The items in their order, as many at a time as are within the limit together; one that is not, alone. */
export function* batchesOf<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => number,
  limit: number,
): Generator<T[]> {
  let batch: T[] = [];
  let size = 0;
  for (const item of items) {
    const own = sizeOf(item);
    if (batch.length > 0 && size + own > limit) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(item);
    size += own;
  }
  if (batch.length > 0) yield batch;
}
