/**
 * What decides where a resource stands in an answer. Decided: text rank first, then distance where a radius was asked
 * for, then the position in the index, which is the same for every request.
 */
export interface Standing {
  /** Higher is better; where a text was searched. */
  rank?: number;
  /** Metres; where S_DWITHIN was used. */
  distance?: number;
  /** Of catalog and resource in the index: what belongs together stays together. */
  position: readonly [catalog: number, resource: number];
}

export function compareStanding(a: Standing, b: Standing): number {
  return (
    (b.rank ?? 0) - (a.rank ?? 0) ||
    compareDistance(a.distance, b.distance) ||
    a.position[0] - b.position[0] ||
    a.position[1] - b.position[1]
  );
}

function compareDistance(a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY): number {
  return a === b ? 0 : a - b;
}
