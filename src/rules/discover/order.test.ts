import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareStanding, type Standing } from './order.ts';

const order = (...standings: Standing[]) => standings.sort(compareStanding);

describe('compareStanding', () => {
  it('puts the better rank first where no distance was asked for', () => {
    expect(order({ rank: 1, band: 3 }, { rank: 2, band: 2 })).toEqual([
      { rank: 2, band: 2 },
      { rank: 1, band: 3 },
    ]);
  });

  it('puts the nearer one first where both have the same words, whatever their ranks', () => {
    const far: Standing = { rank: 2, band: 4, distance: 4_100 };
    const near: Standing = { rank: 1.9, band: 4, distance: 3_600 };
    expect(order(far, near)).toEqual([near, far]);
  });

  it('puts more and rarer words first, whatever the distance, and the better rank at the same distance', () => {
    const near: Standing = { rank: 1, band: 1, distance: 5 };
    const better: Standing = { rank: 2, band: 2, distance: 900 };
    const best: Standing = { rank: 2.5, band: 2, distance: 900 };
    expect(order(near, better, best)).toEqual([best, better, near]);
  });

  it('puts the nearer one first where there is no text, and what has no distance last', () => {
    expect(order({}, { distance: 900 }, { distance: 5 })).toEqual([{ distance: 5 }, { distance: 900 }, {}]);
  });

  it('is a total order of hits with the same parts', () => {
    const few = fc.nat(2);
    const standing = fc.record({ rank: few, band: few, distance: few });
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
