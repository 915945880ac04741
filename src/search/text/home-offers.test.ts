import { describe, expect, it } from 'vitest';
import { keyOf } from '../documents/keys.ts';
import { indexFormats, newestOf } from '../format/index-format.ts';
import type { KeyList } from '../lists/posting-list.ts';
import { divideByHeads, findAway } from './home-offers.ts';

const headsOf = (...catalogs: number[]) => Float64Array.from(catalogs, (catalog) => keyOf(catalog, 0));
const formats = [newestOf(indexFormats)];

describe('the offers with a word', () => {
  const offers: KeyList = {
    keys: Float64Array.of(keyOf(1, 7), keyOf(2, 7), keyOf(2, 8), keyOf(3, 7), keyOf(5, 7)),
    weights: Uint8Array.of(1, 2, 3, 4, 5),
  };

  it('are divided into those that may apply to resources of other catalogs, and the others', () => {
    const away = findAway(
      { formats },
      { abroad: headsOf(2), wide: headsOf(3, 4, 5), siblings: headsOf(1, 2, 5, 6) },
    );
    expect(away).toEqual(headsOf(2, 5));
    const { among, others } = divideByHeads(offers, away);
    expect([[...among.weights], [...others.weights]]).toEqual([
      [2, 3, 5],
      [1, 4],
    ]);
  });

  it('are divided once, as long as the lists are the same: what is cached by these stays valid', () => {
    const lists = { abroad: headsOf(2), wide: headsOf(3), siblings: headsOf(3) };
    const divide = (more = {}) => divideByHeads(offers, findAway({ formats }, { ...lists, ...more }));
    const first = divide();
    expect(divide()).toBe(first);
    expect([...divide({ wide: headsOf(4) }).others.weights]).toEqual([1, 4, 5]);
    expect([...divide({ abroad: headsOf(1) }).others.weights]).toEqual([2, 3, 5]);
  });
});
