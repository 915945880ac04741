import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import { compareStanding } from '../../rules/discover/order.ts';
import type { Found } from './search.ts';

/** A resource that was found, and what decides its place in the answer. */
export interface Standing {
  key: number;
  rank?: number;
  /** Metres. */
  distance?: number;
  /** The spatial constraint that it was found by. */
  proposedBy?: SpatialConstraint;
}

/** The first ones, in the order in which they come; none twice. */
export async function take(batches: AsyncIterable<readonly Standing[]>, needed: number): Promise<Found> {
  const keys = new Set<number>();
  for await (const batch of batches) {
    for (const { key } of batch) keys.add(key);
    if (keys.size >= needed) break;
  }
  return { keys: [...keys], total: keys.size };
}

/** All of them, in the order of an answer. What comes again comes with a greater distance. */
export async function inOrder(batches: AsyncIterable<readonly Standing[]>): Promise<Found> {
  const found = new Map<number, Standing>();
  for await (const batch of batches) {
    for (const standing of batch) if (!found.has(standing.key)) found.set(standing.key, standing);
  }
  const keys = sorted([...found.values()]);
  return { keys, total: keys.length };
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
