// Columns: arrays of equal length, each with one value of the same rows. A list of postings has a column of keys and one of weights. Rows are sorted and selected across all columns.

type Column = Float64Array | Uint8Array;

interface Columns {
  keys: Float64Array;
}

/** The rows that are selected by their indexes, in their order; the same object where all are. */
export function selectRows<T extends Columns>(columns: T, isSelected: (index: number) => boolean): T {
  const indexes = new Uint32Array(columns.keys.length);
  let count = 0;
  for (let index = 0; index < indexes.length; index++) if (isSelected(index)) indexes[count++] = index;
  return count === indexes.length ? columns : pickRows(columns, indexes.subarray(0, count));
}

/** The rows of several lists, one after the other. */
export function joinRows(lists: readonly { keys: Float64Array; weights: Uint8Array }[]): {
  keys: Float64Array;
  weights: Uint8Array;
} {
  const count = lists.reduce((sum, { keys }) => sum + keys.length, 0);
  const joined = { keys: new Float64Array(count), weights: new Uint8Array(count) };
  let at = 0;
  for (const { keys, weights } of lists) {
    joined.keys.set(keys, at);
    joined.weights.set(weights, at);
    at += keys.length;
  }
  return joined;
}

/** All rows in another order; the same object where they are in order already. The sort is stable. */
export function sortRows<T extends Columns>(columns: T, isAfter: (a: number, b: number) => boolean): T {
  const order = sortIndexes(columns.keys.length, isAfter);
  return order ? pickRows(columns, order) : columns;
}

function pickRows<T extends Columns>(columns: T, indexes: Uint32Array): T {
  const entries = Object.entries(columns) as [string, Column][];
  return Object.fromEntries(
    entries.map(([name, column]) => [name, pickValues(column, indexes)]),
  ) as unknown as T;
}

function pickValues(column: Column, indexes: Uint32Array): Column {
  return column instanceof Float64Array ? pickNumbers(column, indexes) : pickBytes(column, indexes);
}

/** One loop for each type: a loop over either is compiled to look at the type of every value. */
function pickNumbers(column: Float64Array, indexes: Uint32Array): Float64Array {
  const picked = new Float64Array(indexes.length);
  for (let at = 0; at < indexes.length; at++) picked[at] = column[indexes[at] as number] as number;
  return picked;
}

function pickBytes(column: Uint8Array, indexes: Uint32Array): Uint8Array {
  const picked = new Uint8Array(indexes.length);
  for (let at = 0; at < indexes.length; at++) picked[at] = column[indexes[at] as number] as number;
  return picked;
}

// A natural merge sort: it finds the sequences that are in order already, and merges neighbours. Lists consist of sorted runs, most of which follow each other: a million keys that are
// nearly in order take a moment, while a general sort takes a second.

/** The indexes from 0 up to a count, sorted; undefined where they are so already. */
function sortIndexes(count: number, isAfter: (a: number, b: number) => boolean): Uint32Array | undefined {
  let order = new Uint32Array(count);
  for (let position = 0; position < count; position++) order[position] = position;
  let ends = findEnds(order, isAfter);
  if (ends.length <= 1) return undefined;
  for (let spare = new Uint32Array(count); ends.length > 1; ends = findEnds(order, isAfter)) {
    for (let pair = 0; pair < ends.length; pair += 2) {
      const [start = 0, middle = 0, end = middle] = [ends[pair - 1], ends[pair], ends[pair + 1]];
      merge(order, spare, { start, middle, end }, isAfter);
    }
    [order, spare] = [spare, order];
  }
  return order;
}

/** Where sequences that are in order end. */
function findEnds(order: Uint32Array, isAfter: (a: number, b: number) => boolean): number[] {
  const ends: number[] = [];
  for (let at = 1; at < order.length; at++)
    if (isAfter(order[at - 1] as number, order[at] as number)) ends.push(at);
  if (order.length > 0) ends.push(order.length);
  return ends;
}

function merge(
  from: Uint32Array,
  to: Uint32Array,
  { start, middle, end }: { start: number; middle: number; end: number },
  isAfter: (a: number, b: number) => boolean,
): void {
  let [left, right] = [start, middle];
  for (let at = start; at < end; at++) {
    const takesRight =
      left === middle || (right < end && isAfter(from[left] as number, from[right] as number));
    to[at] = from[takesRight ? right++ : left++] as number;
  }
}
