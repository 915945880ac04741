import { counted } from '../counted.ts';
import { chord, earthRadiusMeters, toVector } from './geometry/sphere.ts';

// Chargers that several nodes publish: under the same EVSE id, or as stations of the same operator at the same place. Both are signed, so the discovery service
// serves both and merges nothing. It reports them, because only the nodes know which one is right.

export interface Duplicates {
  nodes: [string, string];
  evseIds: number;
  /** Places of the first node that have a place of the second one close by. */
  places: number;
  examples: string[];
}

export type SharedEvseIds = Pick<Duplicates, 'nodes' | 'examples'> & { count: number };

export interface OperatorPlace {
  operator: string;
  node: string;
  longitude: number;
  latitude: number;
}

/** The pairs of nodes that share something, those that share most first. */
export function findDuplicates(shared: readonly SharedEvseIds[], places: readonly OperatorPlace[]) {
  const found = new Map<string, Duplicates>();
  const pairOf = (one: string, other: string): Duplicates => {
    const nodes: [string, string] = one < other ? [one, other] : [other, one];
    const key = nodes.join(' ');
    const pair = found.get(key) ?? { nodes, evseIds: 0, places: 0, examples: [] };
    found.set(key, pair);
    return pair;
  };
  for (const { nodes, count, examples } of shared) {
    const pair = pairOf(...nodes);
    pair.evseIds += count;
    pair.examples.push(...examples);
  }
  for (const { node, others, ...place } of placesInCommon(places)) {
    for (const other of others) {
      const pair = pairOf(node, other);
      if (pair.nodes[0] !== node) continue;
      pair.places += 1;
      pair.examples.push(`${place.operator} at ${place.latitude}, ${place.longitude}`);
    }
  }
  const sizeOf = ({ evseIds, places: count }: Duplicates) => evseIds + count;
  const pairs = [...found.values()].sort((one, other) => sizeOf(other) - sizeOf(one));
  return pairs.map((pair) => ({ ...pair, examples: pair.examples.slice(0, shownExamples) }));
}

const shownExamples = 3;
/** Two stations of one operator are farther apart; two descriptions of one station rarely are. */
const samePlaceMeters = 30;

/** Takes half a second. Many places at one latitude, possibly made up, must not take longer. */
const mostComparisons = 50_000_000;

function placesInCommon(places: readonly OperatorPlace[]): (OperatorPlace & { others: Set<string> })[] {
  const reach = samePlaceMeters / earthRadiusMeters;
  const sorted = places
    .map((place) => ({
      place,
      operator: place.operator.trim().toLowerCase(),
      vector: toVector(place.longitude, place.latitude),
      others: new Set<string>(),
    }))
    .sort((one, other) => one.vector[2] - other.vector[2]);
  let comparisons = 0;
  // From south to north: only places of nearly the same latitude are compared.
  sorted.forEach((one, index) => {
    for (let next = index + 1; next < sorted.length; next += 1) {
      const other = sorted[next] as typeof one;
      comparisons += 1;
      if (other.vector[2] - one.vector[2] > reach || comparisons > mostComparisons) break;
      if (one.place.node === other.place.node || one.operator !== other.operator) continue;
      if (chord(one.vector, other.vector) > reach) continue;
      one.others.add(other.place.node);
      other.others.add(one.place.node);
    }
  });
  return sorted.map(({ place, others }) => ({ ...place, others }));
}

export function spellDuplicates({ nodes, evseIds, places, examples }: Duplicates): string {
  const what = [
    ...(evseIds > 0 ? [counted(evseIds, 'EVSE id')] : []),
    ...(places > 0 ? [`${counted(places, 'place')} of the same operator`] : []),
  ].join(' and ');
  const verb = evseIds + places === 1 ? 'is' : 'are';
  return `${what} ${verb} published by both ${nodes.join(' and ')}, for example ${examples.join('; ')}.`;
}

export const duplicatesHint =
  'Ask both nodes which one is right, and ask the other to stop publishing these chargers. Until then, searches find both.';
