import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../../tests/support/catalogs/data-dir.ts';
import { mapPositions, movedEast } from '../../../tests/support/values/arbitrary-geometry.ts';
import { predicate } from '../../../tests/support/values/predicate.ts';
import { wkt } from '../../../tests/support/values/wkt.ts';
import type { SpatialOperator } from '../../protocol/discover-messages.ts';
import { findGeometryFault, type Geometry, type Position } from '../../protocol/geojson.ts';

// The validation suite of JTS: pairs of geometries in the plane, and the result of each predicate. Our edges are straight in longitude and latitude,
// so the answers must stay the same when a power of two scales a pair to 32 degrees, and when whole degrees move it across the date line: neither
// rounds a coordinate. This includes the coordinates of 10^15 in TestRelateAA-big: scaled like the others, its squares are some 10^-12 degrees wide.

const folder = dataFile('geo/jts-validate');

describe.skipIf(!existsSync(folder))('the relations of the JTS suite (needs the JTS suite)', () => {
  it('are eight answers each for 484 pairs, and a matrix alone for 2', () => {
    const counts = readSuite().map(({ answers }) => Object.keys(answers).length);
    expect([counts.filter((count) => count === 8).length, counts.length]).toEqual([484, 486]);
  });

  it.each<[where: string, place: (pair: Pair) => Pair]>([
    ['near the equator', (pair) => pair],
    ['across the date line, written as 180', (pair) => movedTo(180, pair)],
    ['across the date line, written as -180', (pair) => movedTo(-180, pair)],
  ])('are the same %s', (_where, place) => {
    expect(readSuite().map(scaled).map(place).flatMap(findDifferences)).toEqual(differences);
  });
});

interface Pair {
  /** The file and its description of the pair. */
  name: string;
  first: Geometry;
  second: Geometry;
  answers: Record<string, boolean>;
}

/**
 * Our differences. A line without length is a point. The suite agrees: each is within the other, and the matrix 0FFFFFFF2 is that of equality (OGC
 * 06-103r4 section 6.1.15.3). But the predicate of JTS is false for geometries of different dimensions, whatever their matrix.
 */
const differences = ['equalsTopo of TestRelatePL.xml, P/L-2: a point and a zero-length line'];

const operators: Record<string, SpatialOperator> = {
  intersects: 'S_INTERSECTS',
  disjoint: 'S_DISJOINT',
  within: 'S_WITHIN',
  contains: 'S_CONTAINS',
  overlaps: 'S_OVERLAPS',
  crosses: 'S_CROSSES',
  touches: 'S_TOUCHES',
  equalsTopo: 'S_EQUALS',
};

/** TestRelateAA-big gives only the matrix 212111212: each area has a part inside the other and a part outside. */
const overlapping: Record<string, boolean> = { intersects: true, overlaps: true };

function readSuite(): Pair[] {
  return readdirSync(folder).flatMap((file) => {
    const cases = readFileSync(join(folder, file), 'utf8').split('<case>').slice(1);
    return cases.map((text) => readPair(file, text));
  });
}

function readPair(file: string, text: string): Pair {
  const inside = (tag: string) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1]?.trim() ?? '';
  const answers = [...text.matchAll(/<op name="(\w+)"[^>]*> *(true|false) *</g)]
    .filter(([, name = '']) => name in operators)
    .map(([, name = '', answer]) => [name, answer === 'true'] as const);
  return {
    name: `${file}, ${inside('desc')}`,
    first: wkt(inside('a')),
    second: wkt(inside('b')),
    answers: Object.fromEntries(answers),
  };
}

function scaled(pair: Pair): Pair {
  const largest = Math.max(...positionsOf(pair).flat());
  const scale = 2 ** -Math.ceil(Math.log2(largest / 32));
  return placed(pair, (geometry) =>
    mapPositions(geometry, (position) => position.map((number) => number * scale)),
  );
}

/** Moves the middle of the pair to a meridian, by whole degrees. */
function movedTo(meridian: number, pair: Pair): Pair {
  const longitudes = positionsOf(pair).map(([longitude = 0]) => longitude);
  const middle = Math.round((Math.min(...longitudes) + Math.max(...longitudes)) / 2);
  return placed(pair, (geometry) => movedEast(geometry, meridian - middle));
}

function placed(pair: Pair, place: (geometry: Geometry) => Geometry): Pair {
  return { ...pair, first: place(pair.first), second: place(pair.second) };
}

function positionsOf({ first, second }: Pair): Position[] {
  const positions: Position[] = [];
  for (const geometry of [first, second]) {
    mapPositions(geometry, (position) => {
      positions.push(position);
      return position;
    });
  }
  return positions;
}

function findDifferences({ name, first, second, answers }: Pair): string[] {
  expect([name, findGeometryFault(first), findGeometryFault(second)]).toEqual([name, undefined, undefined]);
  const expected = Object.keys(answers).length > 0 ? answers : overlapping;
  return Object.entries(operators)
    .filter(([key, operator]) => predicate(operator, first, second) !== (expected[key] ?? false))
    .map(([key]) => `${key} of ${name}`);
}
