/**
 * What decides where a resource stands in an answer. Decided: text rank first, then distance where a radius was asked
 * for, then the place in the index, which is the same for every request.
 */
export interface Standing {
  /** Higher is better; where a text was searched. */
  rank?: number;
  /** Metres; where S_DWITHIN was used. */
  distance?: number;
  /** Of catalog and resource in the index: what belongs together stays together. */
  place: readonly [catalog: number, resource: number];
}

export function compareStanding(a: Standing, b: Standing): number {
  return (
    (b.rank ?? 0) - (a.rank ?? 0) ||
    compareDistance(a.distance, b.distance) ||
    a.place[0] - b.place[0] ||
    a.place[1] - b.place[1]
  );
}

function compareDistance(a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY): number {
  return a === b ? 0 : a - b;
}
