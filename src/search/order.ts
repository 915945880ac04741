import { compareStanding } from '../rules/discover/order.ts';

/** A resource that was found, and what decides its place in the answer. */
export interface Standing {
  key: number;
  rank?: number;
  /** Metres. */
  distance?: number;
}

/** All of them, in the order of an answer. What comes again comes with a greater distance. */
export async function* inOrder(batches: AsyncIterable<readonly Standing[]>): AsyncGenerator<number[]> {
  const found = new Map<number, Standing>();
  for await (const batch of batches) {
    for (const standing of batch) if (!found.has(standing.key)) found.set(standing.key, standing);
  }
  yield sorted([...found.values()]);
}

/** Keys are in the order of places: catalogs, and the resources of each. */
export function sorted(standings: readonly Standing[]): number[] {
  const placed = standings.map(({ key, rank, distance }) => ({
    key,
    rank,
    distance,
    place: [key, 0] as const,
  }));
  return placed.sort(compareStanding).map(({ key }) => key);
}
