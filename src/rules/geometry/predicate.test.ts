import { describe, expect, it } from 'vitest';
import { knownRelations } from '../../../tests/support/values/known-relations.ts';
import { predicate } from '../../../tests/support/values/predicate.ts';
import { wkt } from '../../../tests/support/values/wkt.ts';
import { spatialOperators } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';

describe('the spatial operators', () => {
  it.each(knownRelations)('say of %s and %s what %s means', (first, second, relation) => {
    expect(holding(wkt(first), wkt(second))).toEqual(expected(wkt(first), wkt(second), relation));
    expect(holding(wkt(second), wkt(first))).toEqual(expected(wkt(second), wkt(first), transposed(relation)));
  });

  it('are known for every pair of types', () => {
    const pairs = knownRelations.map(([first, second]) => [wkt(first).type, wkt(second).type]);
    const known = new Set(pairs.flatMap(([first, second]) => [`${first} ${second}`, `${second} ${first}`]));
    expect(known.size).toBe(7 * 7);
  });

  it('ignore altitudes', () => {
    const high: Geometry = { type: 'Point', coordinates: [1, 1, 800] };
    expect(predicate('S_EQUALS', high, wkt('POINT(1 1)'))).toBe(true);
    expect(predicate('S_DWITHIN', high, wkt('POINT(1 1)'), 0)).toBe(true);
  });

  it('ignore a distance, but for S_DWITHIN', () => {
    const [here, there] = [wkt('POINT(0 0)'), wkt('POINT(0 1)')];
    expect(predicate('S_INTERSECTS', here, there, 1e6)).toBe(false);
    expect(predicate('S_DWITHIN', here, there, 1e6)).toBe(true);
  });

  it('read a polygon that crosses itself as what lies inside an odd number of times', () => {
    const bowTie = wkt('POLYGON((0 0,4 4,4 0,0 4,0 0))');
    expect(predicate('S_WITHIN', wkt('POINT(1 2)'), bowTie)).toBe(true);
    expect(predicate('S_WITHIN', wkt('POINT(3 2)'), bowTie)).toBe(true);
    expect(predicate('S_INTERSECTS', wkt('POINT(2 3)'), bowTie)).toBe(false);
    expect(predicate('S_TOUCHES', wkt('POINT(2 2)'), bowTie)).toBe(true);
    expect(predicate('S_EQUALS', bowTie, wkt('MULTIPOLYGON(((0 0,2 2,0 4,0 0)),((4 0,4 4,2 2,4 0)))'))).toBe(
      true,
    );
  });

  it('read a polygon without area as the line or the point that it is', () => {
    const flat = wkt('POLYGON((0 0,4 0,2 0,0 0))');
    expect(predicate('S_WITHIN', flat, wkt('LINESTRING(-1 0,5 0)'))).toBe(true);
    expect(predicate('S_EQUALS', flat, flat)).toBe(true);
    expect(predicate('S_CROSSES', wkt('LINESTRING(1 -1,1 1)'), flat)).toBe(true);
    expect(predicate('S_EQUALS', wkt('POLYGON((1 1,1 1,1 1,1 1))'), wkt('POINT(1 1)'))).toBe(true);
  });

  it('are exact where floating-point numbers are not', () => {
    // 0.1 + 0.2 is not 0.3: the point is beside the edge, by less than the last digit of its coordinates.
    const triangle = wkt('POLYGON((0 0,1 0,0 1,0 0))');
    const [on, beside] = [wkt('POINT(0.5 0.5)'), wkt('POINT(0.3 0.7000000000000001)')];
    expect(predicate('S_TOUCHES', on, triangle)).toBe(true);
    expect(predicate('S_INTERSECTS', beside, triangle)).toBe(false);
    // A point on a line through the whole world, and its neighbours north and south of it.
    const long = wkt('LINESTRING(-90 -30,90 30)');
    expect(predicate('S_WITHIN', wkt('POINT(1.5 0.5)'), long)).toBe(true);
    expect(predicate('S_INTERSECTS', wkt('POINT(1.5 0.5000000000000001)'), long)).toBe(false);
    expect(predicate('S_INTERSECTS', wkt('POINT(1.5 0.49999999999999994)'), long)).toBe(false);
  });
});

const topological = spatialOperators.filter((operator) => operator !== 'S_DWITHIN');

function holding(stored: Geometry, query: Geometry): string[] {
  return topological.filter((operator) => predicate(operator, stored, query));
}

function expected(stored: Geometry, query: Geometry, relation: string): string[] {
  const dimensions = `${dimensionOf(stored)}${dimensionOf(query)}`;
  return topological.filter((operator) =>
    patterns[operator](dimensions).some((pattern) => matches(relation, pattern)),
  );
}

/** The patterns of OGC 06-103r4 section 6.1.15, by the dimensions of the two geometries. */
const patterns: Record<(typeof topological)[number], (dimensions: string) => string[]> = {
  S_INTERSECTS: () => ['T********', '*T*******', '***T*****', '****T****'],
  S_DISJOINT: () => ['FF*FF****'],
  S_WITHIN: () => ['T*F**F***'],
  S_CONTAINS: () => ['T*****FF*'],
  S_OVERLAPS: (dimensions) =>
    dimensions === '11' ? ['1*T***T**'] : ['00', '22'].includes(dimensions) ? ['T*T***T**'] : [],
  S_CROSSES: (dimensions) => {
    if (dimensions === '11') return ['0********'];
    if (['01', '02', '12'].includes(dimensions)) return ['T*T******'];
    return ['10', '20', '21'].includes(dimensions) ? ['T*****T**'] : [];
  },
  S_TOUCHES: (dimensions) => (dimensions === '00' ? [] : ['FT*******', 'F**T*****', 'F***T****']),
  S_EQUALS: () => ['T*F**FFF*'],
};

function matches(relation: string, pattern: string): boolean {
  return [...pattern].every((wanted, cell) => {
    const found = relation[cell];
    return wanted === '*' || (wanted === 'T' ? found !== 'F' : wanted === found);
  });
}

function transposed(relation: string): string {
  return [0, 3, 6, 1, 4, 7, 2, 5, 8].map((cell) => relation[cell]).join('');
}

function dimensionOf(geometry: Geometry): number {
  if (geometry.type === 'GeometryCollection') return Math.max(...geometry.geometries.map(dimensionOf));
  if (geometry.type === 'LineString' && new Set(geometry.coordinates.map(String)).size === 1) return 0;
  return ['Point', 'LineString', 'Polygon'].indexOf(geometry.type.replace('Multi', ''));
}
