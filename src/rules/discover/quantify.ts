import type { SpatialQuantifier } from '../../protocol/discover-messages.ts';

export interface Tally {
  asked: number;
  holds: number;
}

/** Whether the geometries under the targets of a resource satisfy a spatial constraint. Decided: a resource without a geometry there never matches. */
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
