/**
 * The order of an answer. Decided: text rank, else distance if a radius was given, else the position in the index. With both text and distance: by band, then distance, then rank. A band is the set of
 * query words that matched, each exactly or not (text/rank.ts): a fraction of a rank must not outweigh a kilometre.
 */
export interface Standing {
  /** Higher is better; only for a text search. */
  rank?: number;
  band?: number;
  /** Metres; only for S_DWITHIN. */
  distance?: number;
}

export function compareStanding(a: Standing, b: Standing): number {
  const byRank = (b.rank ?? 0) - (a.rank ?? 0);
  if (a.distance === undefined && b.distance === undefined) return byRank;
  return (b.band ?? 0) - (a.band ?? 0) || compareDistance(a.distance, b.distance) || byRank;
}

function compareDistance(a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY): number {
  return a === b ? 0 : a - b;
}
