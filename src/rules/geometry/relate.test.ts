import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import {
  arbitraryGeometry,
  arbitraryOfType,
  plainTypes,
} from '../../../tests/support/values/arbitrary-geometry.ts';
import { geosPredicates, isValidForGeos } from '../../../tests/support/values/geos.ts';
import { predicate } from '../../../tests/support/values/predicate.ts';
import { type SpatialOperator, spatialOperators } from '../../protocol/discover-messages.ts';
import type { Geometry, Position } from '../../protocol/geojson.ts';

const topological = spatialOperators.filter((operator) => operator !== 'S_DWITHIN');

describe('the relation of two geometries', () => {
  // GEOS, which follows JTS, is the reference for geometries of one kind.
  it.each(plainTypes.flatMap((first) => plainTypes.map((second) => [first, second] as const)))(
    'of types %s and %s is what GEOS says',
    (first, second) => {
      const pair = fc.tuple(arbitraryOfType(first), arbitraryOfType(second));
      fc.assert(
        fc.property(pair, ([stored, query]) => {
          fc.pre(isValidForGeos(stored) && isValidForGeos(query));
          expect(holding(stored, query)).toEqual(geosPredicates(stored, query));
        }),
        { numRuns: runs(25) },
      );
    },
  );

  it('is the same from both sides', () => {
    const turned = (operator: SpatialOperator) =>
      operator === 'S_WITHIN' ? 'S_CONTAINS' : operator === 'S_CONTAINS' ? 'S_WITHIN' : operator;
    check((stored, query) => {
      expect(holding(query, stored).map(turned).sort()).toEqual(holding(stored, query).sort());
    });
  });

  it('is disjoint where it does not intersect, and equal where each is within the other', () => {
    check((stored, query) => {
      const holds = holding(stored, query);
      expect(holds.includes('S_DISJOINT')).toBe(!holds.includes('S_INTERSECTS'));
      expect(holds.includes('S_EQUALS')).toBe(holds.includes('S_WITHIN') && holds.includes('S_CONTAINS'));
    });
  });

  it('of a geometry to itself is equality', () => {
    check((stored) => {
      expect(holding(stored, stored)).toEqual(['S_INTERSECTS', 'S_WITHIN', 'S_CONTAINS', 'S_EQUALS']);
    });
  });

  it('does not depend on how a geometry is put together', () => {
    check((stored, query) => {
      const wrapped: Geometry = { type: 'GeometryCollection', geometries: [stored] };
      expect(holding(wrapped, query)).toEqual(holding(stored, query));
      expect(holding(stored, { type: 'GeometryCollection', geometries: [wrapped, query] })).toEqual(
        holding(stored, { type: 'GeometryCollection', geometries: [query, stored] }),
      );
    });
  });

  it('does not depend on vertices in the middle of edges, nor on the pieces that an area is cut into', () => {
    const cut = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(arbitraryGeometry(), cut, cut, (query, x, y) => {
        const whole = box(0, 0, 6, 6);
        const quarters = [box(0, 0, x, y), box(x, 0, 6, y), box(0, y, x, 6), box(x, y, 6, 6)];
        const pieces: Geometry = {
          type: 'MultiPolygon',
          coordinates: quarters.map((quarter) => quarter.coordinates),
        };
        expect(holding(pieces, query)).toEqual(holding(whole, query));
        expect(holding(query, { type: 'GeometryCollection', geometries: quarters })).toEqual(
          holding(query, whole),
        );
        expect(holding(query, withMiddles(query))).toEqual(holding(query, query));
      }),
      { numRuns: runs(60) },
    );
  });
});

function box(west: number, south: number, east: number, north: number): Geometry & { type: 'Polygon' } {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: 'Polygon', coordinates: [corners] } as Geometry & { type: 'Polygon' };
}

function withMiddles(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection')
    return { ...geometry, geometries: geometry.geometries.map(withMiddles) };
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') return geometry;
  const added = (coordinates: unknown[]): unknown[] => {
    const [first] = coordinates as unknown[][];
    if (typeof first?.[0] !== 'number') return (coordinates as unknown[][]).map(added);
    return (coordinates as Position[]).flatMap(([x = 0, y = 0], index) => {
      const [a, b] = (coordinates as Position[])[index - 1] ?? [x, y];
      return [
        [(x + (a as number)) / 2, (y + (b as number)) / 2],
        [x, y],
      ];
    });
  };
  return { ...geometry, coordinates: added(geometry.coordinates) } as Geometry;
}

function check(property: (stored: Geometry, query: Geometry) => void): void {
  fc.assert(fc.property(arbitraryGeometry(), arbitraryGeometry(), property), { numRuns: runs(150) });
}

function holding(stored: Geometry, query: Geometry): SpatialOperator[] {
  return topological.filter((operator) => predicate(operator, stored, query));
}
