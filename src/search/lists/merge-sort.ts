// A natural merge sort: it finds the sequences that are in order already, and merges neighbours. Lists consist of sorted runs, most of which follow each other: a million keys that are
// nearly in order take a moment, while a general sort takes a second.

/** The indexes from 0 up to a count, sorted; undefined where they are so already. The sort is stable. */
export function sortIndexes(
  count: number,
  isAfter: (a: number, b: number) => boolean,
): Uint32Array | undefined {
  let order = new Uint32Array(count);
  for (let position = 0; position < count; position++) order[position] = position;
  let ends = endsOf(order, isAfter);
  if (ends.length <= 1) return undefined;
  for (let spare = new Uint32Array(count); ends.length > 1; ends = endsOf(order, isAfter)) {
    for (let pair = 0; pair < ends.length; pair += 2) {
      const [start = 0, middle = 0, end = middle] = [ends[pair - 1], ends[pair], ends[pair + 1]];
      merge(order, spare, { start, middle, end }, isAfter);
    }
    [order, spare] = [spare, order];
  }
  return order;
}

/** Where sequences that are in order end. */
function endsOf(order: Uint32Array, isAfter: (a: number, b: number) => boolean): number[] {
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
