import { compareStanding } from '../rules/discover/order.ts';

/** A resource that was found, and what it is sorted by. */
export interface Hit {
  key: number;
  rank?: number;
  /** Metres. */
  distance?: number;
}

/** All hits, in the order of an answer. A hit that comes again comes with a greater distance. */
export async function* sortHits(batches: AsyncIterable<readonly Hit[]>): AsyncGenerator<number[]> {
  const found = new Map<number, Hit>();
  for await (const batch of batches) {
    for (const hit of batch) if (!found.has(hit.key)) found.set(hit.key, hit);
  }
  yield sortKeys([...found.values()]);
}

/** Equal hits are in the order of keys: of catalogs, and of the resources of each. */
export function sortKeys(hits: readonly Hit[]): number[] {
  const standings = hits.map(({ key, rank, distance }) => ({
    key,
    rank,
    distance,
    position: [key, 0] as const,
  }));
  return standings.sort(compareStanding).map(({ key }) => key);
}
