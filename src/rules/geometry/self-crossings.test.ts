import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { star } from '../../../tests/support/values/costly-geometries.ts';
import type { Position } from '../../protocol/geojson.ts';
import { countSelfCrossings } from './self-crossings.ts';

const all = Number.POSITIVE_INFINITY;

describe('the crossings of a ring with itself', () => {
  // On a small lattice, edges often overlap and pass through vertices of others.
  it.each([3, 6, 40])(
    'are those that comparing every pair of edges finds, on a lattice of %i steps',
    (size) => {
      const corner = fc.tuple(fc.integer({ min: 0, max: size }), fc.integer({ min: 0, max: size }));
      fc.assert(
        fc.property(fc.array(corner, { minLength: 3, maxLength: 24 }), (corners) => {
          const expected = compareEveryPair(corners);
          expect(countSelfCrossings(close(corners), all)).toBe(expected);
          const acrossDateLine = corners.map(([x, y]): Position => [wrap(180 + (x - size / 2) / 8), y / 8]);
          expect(countSelfCrossings(close(acrossDateLine), all)).toBe(expected);
        }),
        { numRuns: runs(400) },
      );
    },
  );

  it('are counted no further than beyond a limit', () => {
    const points = fc.integer({ min: 2, max: 60 }).map((half) => 2 * half + 1);
    fc.assert(
      fc.property(points, fc.integer({ min: 0, max: 200 }), (count, limit) => {
        const [ring = []] = (star(count) as { coordinates: Position[][] }).coordinates;
        // Every edge crosses all others except its two neighbours.
        const expected = (count * (count - 3)) / 2;
        const counted = countSelfCrossings(ring, limit);
        if (expected <= limit) expect(counted).toBe(expected);
        else expect(counted).toBeGreaterThan(limit);
      }),
    );
  });

  it('are none where a ring only touches itself at its corners', () => {
    const petals = Array.from({ length: 50 }, (_, index): Position[] => [
      [0, 0],
      [1, index / 50],
      [1, (index + 0.5) / 50],
    ]);
    expect(countSelfCrossings(close(petals.flat()), all)).toBe(0);
  });

  it('are found a turn away, where a ring leads round the world more than once', () => {
    const longitudes = [0, 120, -120];
    const turns = [0, 1, 2].flatMap((turn) => longitudes.map((x): Position => [x, 10 * turn + x / 24]));
    // The way from the end of the third turn to the south leads through all three.
    expect(countSelfCrossings(close([...turns, [0, 30], [-60, 30], [-60, -30]]), all)).toBe(3);
  });

  it.each([
    ['lying', (along: number, across: number): Position => [across, along]],
    ['upright', (along: number, across: number): Position => [along, across]],
    ['slanting', (along: number, across: number): Position => [across + along / 2, across / 2 - along]],
  ])('are none in a comb of 50,000 vertices, %s: not every pair of its edges is compared', (_, place) => {
    const teeth = 12_500;
    const outline = Array.from({ length: teeth }, (_, index): Position[] => {
      const [from, to] = [(2 * index) / teeth, (2 * index + 1) / teeth];
      return [place(from, 1), place(from, 40), place(to, 40), place(to, 1)];
    }).flat();
    expect(countSelfCrossings(close([...outline, place(2, 0), place(0, 0)]), all)).toBe(0);
  });
});

function close(corners: readonly Position[]): Position[] {
  return [...corners, corners[0] as Position];
}

function wrap(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude;
}

type Corner = [number, number];

/** In integers. */
function compareEveryPair(corners: readonly Corner[]): number {
  const kept = corners.filter((corner, index) => !isSame(corner, corners.at(index - 1) as Corner));
  const edges = kept.map((corner, index): [Corner, Corner] => [
    corner,
    kept[(index + 1) % kept.length] as Corner,
  ]);
  return edges.reduce(
    (count, [a, b], index) =>
      count + edges.slice(index + 1).filter(([c, d]) => shareMoreThanEnds(a, b, c, d)).length,
    0,
  );
}

function shareMoreThanEnds(a: Corner, b: Corner, c: Corner, d: Corner): boolean {
  const [ofC, ofD, ofA, ofB] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (ofC * ofD < 0 && ofA * ofB < 0) return true;
  const shared = [a, b, c, d].filter((corner) => isOn(corner, a, b) && isOn(corner, c, d));
  const [first] = shared;
  if (first === undefined) return false;
  const isEndOfBoth = [a, b].some((end) => isSame(end, first)) && [c, d].some((end) => isSame(end, first));
  return !isEndOfBoth || shared.some((corner) => !isSame(corner, first));
}

function isOn(corner: Corner, from: Corner, to: Corner): boolean {
  const isBetween = (at: 0 | 1) =>
    Math.min(from[at], to[at]) <= corner[at] && corner[at] <= Math.max(from[at], to[at]);
  return turn(from, to, corner) === 0 && isBetween(0) && isBetween(1);
}

function turn(from: Corner, to: Corner, corner: Corner): number {
  return Math.sign((to[0] - from[0]) * (corner[1] - from[1]) - (to[1] - from[1]) * (corner[0] - from[0]));
}

function isSame(one: Corner, other: Corner): boolean {
  return one[0] === other[0] && one[1] === other[1];
}
