import { describe, expect, it } from 'vitest';
import { RangeMemory } from './range-cache.ts';

const price = 1;
const list = (keys: readonly number[]) => ({
  keys: Float64Array.from(keys),
  values: Float64Array.from(keys, (_, index) => index),
});

describe('the memory of ranges', () => {
  it('puts a part of a list in order, each key once, and does so once', () => {
    const memory = new RangeMemory();
    const prices = list([5, 3, 9, 3, 1]);
    const set = memory.inOrder(price, prices, 0, 4);
    expect([...set]).toEqual([3, 5, 9]);
    expect(memory.inOrder(price, prices, 0, 4)).toBe(set);
    expect([...memory.inOrder(price, prices, 3, 5)]).toEqual([1, 3]);
  });

  it('does not take a list for the one that it has become', () => {
    const memory = new RangeMemory();
    memory.inOrder(price, list([5, 3]), 0, 2);
    expect([...memory.inOrder(price, list([7, 6]), 0, 2)]).toEqual([6, 7]);
  });

  it('does not keep any number of empty ranges', () => {
    const memory = new RangeMemory();
    const prices = list([5, 3]);
    const first = memory.inOrder(price, prices, 0, 0);
    expect(memory.inOrder(price, prices, 0, 0)).toBe(first);
    for (let path = 2; path < 200_000; path++) memory.inOrder(path, prices, 0, 0);
    expect(memory.inOrder(price, prices, 0, 0)).not.toBe(first);
  });

  it('forgets what was not asked for the longest when it is full', () => {
    const memory = new RangeMemory();
    const long = list(Array.from({ length: 1_000_000 }, (_, index) => index));
    const first = memory.inOrder(1, long, 0, 1_000_000);
    const second = memory.inOrder(2, long, 0, 1_000_000);
    for (const path of [3, 1, 4]) memory.inOrder(path, long, 0, 1_000_000);
    expect(memory.inOrder(1, long, 0, 1_000_000)).toBe(first);
    expect(memory.inOrder(2, long, 0, 1_000_000)).not.toBe(second);
  });
});
