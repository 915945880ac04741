import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareStanding, type Standing } from './order.ts';

const order = (...standings: Standing[]) => standings.sort(compareStanding);

describe('compareStanding', () => {
  it('puts the better rank first, whatever the distance', () => {
    const near: Standing = { rank: 1, distance: 5, position: [1, 1] };
    const better: Standing = { rank: 2, distance: 900, position: [2, 1] };
    expect(order(near, better)).toEqual([better, near]);
  });

  it('puts the nearer one first where ranks are equal or there are none', () => {
    const near: Standing = { distance: 5, position: [2, 1] };
    const far: Standing = { distance: 900, position: [1, 1] };
    const nowhere: Standing = { position: [0, 1] };
    expect(order(nowhere, far, near)).toEqual([near, far, nowhere]);
  });

  it('keeps the resources of a catalog together otherwise', () => {
    expect(
      order({ position: [2, 1] }, { position: [1, 2] }, { position: [1, 1] }).map(({ position }) => position),
    ).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
  });

  it('is a total order', () => {
    const few = fc.nat(2);
    const standing = fc.record(
      { rank: few, distance: few, position: fc.tuple(few, few) },
      { requiredKeys: ['position'] },
    );
    fc.assert(
      fc.property(standing, standing, standing, (a, b, c) => {
        expect(Math.sign(compareStanding(a, b))).toBe(-Math.sign(compareStanding(b, a)) || 0);
        if (compareStanding(a, b) <= 0 && compareStanding(b, c) <= 0) {
          expect(compareStanding(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});
