import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { earthRadiusMeters, toVector } from '../../rules/geometry/sphere.ts';
import { queryBox, touches } from '../../rules/geometry/sphere-box.ts';
import { cellsOf } from './grid.ts';

const longitudes = fc.double({ min: -180, max: 180, noNaN: true });
const latitudes = fc.double({ min: -90, max: 90, noNaN: true });
const place = fc.tuple(longitudes, latitudes);
const meters = fc.double({ min: 0, max: 300_000, noNaN: true });

function boxAround([longitude, latitude]: [number, number], distance: number) {
  const box = queryBox('S_DWITHIN', { type: 'Point', coordinates: [longitude, latitude] }, distance);
  if (box === undefined) throw new Error('there is no box');
  return box;
}

describe('the cells of a box', () => {
  it('have every place of the earth that is in the box, and are few', () => {
    const shift = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(place, meters, shift, shift, ([longitude, latitude], distance, east, north) => {
        const box = boxAround([longitude, latitude], distance);
        const cells = cellsOf(box) ?? [];
        const degrees = ((distance / earthRadiusMeters) * 180) / Math.PI;
        const near = toVector(
          longitude + east * degrees,
          Math.max(-90, Math.min(90, latitude + north * degrees)),
        );
        const spot = { low: near, high: near };
        if (touches(spot, box)) expect(cells.some((cell) => touches(spot, cell.box))).toBe(true);
        expect(cells.length).toBeLessThanOrEqual(125);
        expect(new Set(cells.map(({ name }) => name)).size).toBe(cells.length);
      }),
    );
  });

  it('are the same for what is searched nearby, as widely', () => {
    const names = (longitude: number) =>
      cellsOf(boxAround([longitude, 13], 3_000))?.map(({ name }) => name) ?? [];
    const here = new Set(names(77.6));
    expect(names(77.601).filter((name) => here.has(name)).length).toBeGreaterThan(0);
  });

  it('are not given for a box of many hundred kilometres', () => {
    expect(cellsOf(boxAround([77.6, 13], 400_000))).toBeUndefined();
  });
});
