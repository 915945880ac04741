// Lists consist of runs, each in order, and most runs follow each other: what is in order already is found, and only the rest put together, two
// neighbours at a time. A million keys that nearly are in order take a moment; sorting them takes a second.

/** The places from 0 up to a count, in order; undefined where they are so already. Equal ones stay as they are. */
export function placesInOrder(
  count: number,
  isAfter: (a: number, b: number) => boolean,
): Uint32Array | undefined {
  let places = new Uint32Array(count);
  for (let place = 0; place < count; place++) places[place] = place;
  let ends = endsOf(places, isAfter);
  if (ends.length <= 1) return undefined;
  for (let spare = new Uint32Array(count); ends.length > 1; ends = endsOf(places, isAfter)) {
    for (let pair = 0; pair < ends.length; pair += 2) {
      const [start = 0, middle = 0, end = middle] = [ends[pair - 1], ends[pair], ends[pair + 1]];
      merge(places, spare, { start, middle, end }, isAfter);
    }
    [places, spare] = [spare, places];
  }
  return places;
}

/** Where sequences that are in order end. */
function endsOf(places: Uint32Array, isAfter: (a: number, b: number) => boolean): number[] {
  const ends: number[] = [];
  for (let at = 1; at < places.length; at++)
    if (isAfter(places[at - 1] as number, places[at] as number)) ends.push(at);
  if (places.length > 0) ends.push(places.length);
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
