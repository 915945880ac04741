import type { SpatialQuantifier } from '../../protocol/discover-messages.ts';

/** For how many geometries a predicate was asked, and for how many it holds. */
export interface Tally {
  asked: number;
  holds: number;
}

/**
 * Whether a resource satisfies a spatial constraint, from what the predicate says of the geometries under its targets. Decided:
 * what has no geometry there never matches, whatever the quantifier.
 */
export function quantify(quantifier: SpatialQuantifier, { asked, holds }: Tally): boolean {
  if (asked === 0) return false;
  switch (quantifier) {
    case 'ANY':
      return holds > 0;
    case 'ALL':
      return holds === asked;
    case 'NONE':
      return holds === 0;
  }
}
