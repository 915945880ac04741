import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { arbitraryGeometry, movedEast } from '../../../tests/support/values/arbitrary-geometry.ts';
import { predicate } from '../../../tests/support/values/predicate.ts';
import { wkt } from '../../../tests/support/values/wkt.ts';
import { spatialOperators } from '../../protocol/discover-messages.ts';

const topological = spatialOperators.filter((operator) => operator !== 'S_DWITHIN');

describe('at the date line', () => {
  const fiji = wkt('POLYGON((176 -20,-178 -20,-178 -15,176 -15,176 -20))');

  it('an edge that spans more than 180° goes the short way', () => {
    expect(within('POINT(179 -17)', fiji)).toBe(true);
    expect(within('POINT(-179 -17)', fiji)).toBe(true);
    expect(within('POINT(0 -17)', fiji)).toBe(false);
    expect(within('POINT(175 -17)', fiji)).toBe(false);
    expect(touches('POINT(-178 -17)', fiji)).toBe(true);
  });

  it('an edge that spans 180° or less does not', () => {
    const half = wkt('POLYGON((-90 0,90 0,90 10,-90 10,-90 0))');
    expect(within('POINT(0 5)', half)).toBe(true);
    expect(within('POINT(180 5)', half)).toBe(false);
  });

  it('180 and -180 are one meridian', () => {
    expect(predicate('S_EQUALS', wkt('POINT(180 5)'), wkt('POINT(-180 5)'))).toBe(true);
    expect(within('POINT(180 -17)', fiji)).toBe(true);
    expect(within('POINT(-180 -17)', fiji)).toBe(true);
    const [west, east] = [
      'POLYGON((170 0,180 0,180 9,170 9,170 0))',
      'POLYGON((-180 0,-170 0,-170 9,-180 9,-180 0))',
    ];
    expect(touches(west, wkt(east))).toBe(true);
    expect(predicate('S_TOUCHES', wkt('LINESTRING(179 1,180 1)'), wkt('LINESTRING(-180 1,-179 1)'))).toBe(
      true,
    );
  });

  it('a polygon that was cut there, as RFC 7946 advises, is the uncut one', () => {
    const cut = wkt(
      'MULTIPOLYGON(((176 -20,180 -20,180 -15,176 -15,176 -20)),((-180 -20,-178 -20,-178 -15,-180 -15,-180 -20)))',
    );
    expect(predicate('S_EQUALS', cut, fiji)).toBe(true);
    expect(within('POINT(180 -17)', cut)).toBe(true);
    expect(within('LINESTRING(179 -17,-179 -17)', cut)).toBe(true);
  });

  it('a line that crosses it is one line', () => {
    const line = wkt('LINESTRING(170 0,-170 0)');
    expect(predicate('S_EQUALS', line, wkt('MULTILINESTRING((170 0,180 0),(-180 0,-170 0))'))).toBe(true);
    expect(predicate('S_CROSSES', wkt('LINESTRING(180 -1,180 1)'), line)).toBe(true);
    expect(predicate('S_DISJOINT', wkt('LINESTRING(0 -1,0 1)'), line)).toBe(true);
  });

  it('holes may cross it', () => {
    const ring = wkt('POLYGON((170 0,-170 0,-170 20,170 20,170 0),(175 5,-175 5,-175 15,175 15,175 5))');
    expect(within('POINT(172 10)', ring)).toBe(true);
    expect(within('POINT(-172 10)', ring)).toBe(true);
    expect(predicate('S_DISJOINT', wkt('POINT(180 10)'), ring)).toBe(true);
    expect(touches('POINT(-180 5)', ring)).toBe(true);
  });

  it('nothing changes when two geometries move across it together', () => {
    const eastward = fc.integer({ min: -180 * 8, max: 180 * 8 - 48 }).map((eighths) => eighths / 8);
    fc.assert(
      fc.property(
        arbitraryGeometry(),
        arbitraryGeometry(),
        fc.oneof(eastward, fc.constantFrom(174, 177, 180)),
        (stored, query, degrees) => {
          const moved = [movedEast(stored, degrees), movedEast(query, degrees)] as const;
          expect(holding(...moved)).toEqual(holding(stored, query));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('round the world', () => {
  const world = wkt('POLYGON((-180 -90,180 -90,180 90,-180 90,-180 -90))');

  it('a box from -180 to 180 is the whole world', () => {
    for (const place of ['POINT(0 0)', 'POINT(180 10)', 'POINT(-180 -10)', 'POINT(7 90)', 'POINT(0 -90)']) {
      expect(within(place, world)).toBe(true);
    }
    expect(within('LINESTRING(170 0,-170 0)', world)).toBe(true);
    expect(within('POLYGON((170 0,-170 0,-170 9,170 9,170 0))', world)).toBe(true);
  });

  it('a box between two parallels is a band', () => {
    const tropics = wkt('POLYGON((-180 -23,180 -23,180 23,-180 23,-180 -23))');
    expect(within('POINT(180 0)', tropics)).toBe(true);
    expect(within('POINT(0 22)', tropics)).toBe(true);
    expect(touches('POINT(-180 23)', tropics)).toBe(true);
    expect(within('POINT(0 24)', tropics)).toBe(false);
    expect(within('POLYGON((170 0,-170 0,-170 9,170 9,170 0))', tropics)).toBe(true);
    expect(predicate('S_WITHIN', tropics, world)).toBe(true);
  });

  it('a line from -180 to 180 is the whole parallel, closed', () => {
    const equator = wkt('LINESTRING(-180 0,180 0)');
    expect(within('POINT(40 0)', equator)).toBe(true);
    expect(within('POINT(180 0)', equator)).toBe(true);
    expect(predicate('S_EQUALS', equator, wkt('LINESTRING(10 0,130 0,-110 0,10 0)'))).toBe(true);
  });
});

describe('at the poles', () => {
  const cap = wkt('POLYGON((0 70,120 70,-120 70,0 70))');
  const antarctica = wkt('POLYGON((-180 -90,-180 -70,-60 -65,60 -75,180 -70,180 -90,-180 -90))');

  it('a ring round the world encloses the pole that is nearer', () => {
    for (const place of ['POINT(10 80)', 'POINT(180 71)', 'POINT(-120 75)', 'POINT(0 90)', 'POINT(33 90)']) {
      expect(within(place, cap)).toBe(true);
    }
    expect(touches('POINT(60 70)', cap)).toBe(true);
    expect(within('POINT(10 60)', cap)).toBe(false);
    expect(within('POINT(10 -80)', cap)).toBe(false);
    const south = wkt('POLYGON((0 -70,-120 -70,120 -70,0 -70))');
    expect(within('POINT(10 -80)', south)).toBe(true);
    expect(within('POINT(10 80)', south)).toBe(false);
  });

  it('its direction does not matter, and where it starts neither', () => {
    expect(predicate('S_EQUALS', cap, wkt('POLYGON((-120 70,120 70,0 70,-120 70))'))).toBe(true);
    expect(
      predicate('S_EQUALS', cap, wkt('POLYGON((-180 70,-180 90,180 90,180 70,60 70,-60 70,-180 70))')),
    ).toBe(true);
  });

  it('a ring that halves the world has on its left what it encloses', () => {
    expect(within('POINT(0 1)', wkt('POLYGON((0 0,120 0,-120 0,0 0))'))).toBe(true);
    expect(within('POINT(0 -1)', wkt('POLYGON((0 0,-120 0,120 0,0 0))'))).toBe(true);
  });

  it('a polygon along the pole has it inside', () => {
    for (const place of [
      'POINT(0 -90)',
      'POINT(99 -90)',
      'POINT(180 -80)',
      'POINT(-180 -89)',
      'POINT(0 -71)',
    ]) {
      expect(within(place, antarctica)).toBe(true);
    }
    expect(within('POLYGON((170 -80,-170 -80,-170 -75,170 -75,170 -80))', antarctica)).toBe(true);
    expect(touches('POINT(180 -70)', antarctica)).toBe(true);
  });

  it('a pole is one place at all longitudes', () => {
    expect(predicate('S_EQUALS', wkt('POINT(10 90)'), wkt('POINT(-50 90)'))).toBe(true);
    const [first, second] = [
      'POLYGON((0 80,30 80,30 90,0 90,0 80))',
      'POLYGON((90 80,120 80,120 90,90 90,90 80))',
    ];
    expect(touches(first, wkt(second))).toBe(true);
    expect(touches('POINT(-160 90)', wkt(first))).toBe(true);
    expect(touches('LINESTRING(-100 80,-100 90)', wkt(first))).toBe(true);
    expect(within('POINT(5 90)', wkt('LINESTRING(0 80,0 90,180 80)'))).toBe(true);
  });

  it('a cap has holes round the pole', () => {
    const ring = wkt('POLYGON((0 60,120 60,-120 60,0 60),(0 80,120 80,-120 80,0 80))');
    expect(within('POINT(77 70)', ring)).toBe(true);
    expect(predicate('S_DISJOINT', wkt('POINT(77 85)'), ring)).toBe(true);
    expect(predicate('S_DISJOINT', wkt('POINT(77 90)'), ring)).toBe(true);
  });
});

function within(stored: string, query: ReturnType<typeof wkt>): boolean {
  return predicate('S_WITHIN', wkt(stored), query);
}

function touches(stored: string, query: ReturnType<typeof wkt>): boolean {
  return predicate('S_TOUCHES', wkt(stored), query);
}

function holding(stored: ReturnType<typeof wkt>, query: ReturnType<typeof wkt>): string[] {
  return topological.filter((operator) => predicate(operator, stored, query));
}
