import type { SpatialQuantifier } from '../../protocol/discover-messages.ts';

/**
 * Whether a resource satisfies a spatial constraint, from what the predicate says of each geometry under its targets. Decided:
 * what has no geometry there never matches, whatever the quantifier.
 */
export function quantify(quantifier: SpatialQuantifier, results: readonly boolean[]): boolean {
  if (results.length === 0) return false;
  switch (quantifier) {
    case 'ANY':
      return results.includes(true);
    case 'ALL':
      return !results.includes(false);
    case 'NONE':
      return !results.includes(true);
  }
}
