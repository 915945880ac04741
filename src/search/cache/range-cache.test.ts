import { describe, expect, it } from 'vitest';
import { RangeCache } from './range-cache.ts';

const price = 1;
const list = (keys: readonly number[]) => ({
  keys: Float64Array.from(keys),
  values: Float64Array.from(keys, (_, index) => index),
});

describe('the cache of ranges', () => {
  it('puts a part of a list in order, each key once, and does so once', () => {
    const cache = new RangeCache(4_000);
    const prices = list([5, 3, 9, 3, 1]);
    const set = cache.inOrder(price, prices, 0, 4);
    expect([...set]).toEqual([3, 5, 9]);
    expect(cache.inOrder(price, prices, 0, 4)).toBe(set);
    expect([...cache.inOrder(price, prices, 3, 5)]).toEqual([1, 3]);
  });

  it('does not take a list for the one that it has become', () => {
    const cache = new RangeCache(4_000);
    cache.inOrder(price, list([5, 3]), 0, 2);
    expect([...cache.inOrder(price, list([7, 6]), 0, 2)]).toEqual([6, 7]);
  });

  it('does not keep any number of empty ranges', () => {
    const cache = new RangeCache(4_000);
    const prices = list([5, 3]);
    const first = cache.inOrder(price, prices, 0, 0);
    expect(cache.inOrder(price, prices, 0, 0)).toBe(first);
    for (let path = 2; path < 200; path++) cache.inOrder(path, prices, 0, 0);
    expect(cache.inOrder(price, prices, 0, 0)).not.toBe(first);
  });

  it('forgets what was not asked for the longest when it is full', () => {
    const cache = new RangeCache(4_000);
    const long = list(Array.from({ length: 1_000 }, (_, index) => index));
    const first = cache.inOrder(1, long, 0, 1_000);
    const second = cache.inOrder(2, long, 0, 1_000);
    for (const path of [3, 1, 4]) cache.inOrder(path, long, 0, 1_000);
    expect(cache.inOrder(1, long, 0, 1_000)).toBe(first);
    expect(cache.inOrder(2, long, 0, 1_000)).not.toBe(second);
  });
});
