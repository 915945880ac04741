import { describe, expect, it } from 'vitest';
import { keyOf } from '../documents/keys.ts';
import { VerdictCache } from './verdict-cache.ts';

const [a, b, other] = [keyOf(1, 1), keyOf(1, 2), keyOf(2, 1)];

describe('the cache of verdicts', () => {
  it('knows of each resource and each check by itself', () => {
    const cache = new VerdictCache(10_000);
    cache.keep('cheap', [a, other], new Set([a]));
    expect([a, b, other].map((key) => cache.find('cheap')(key))).toEqual([true, undefined, false]);
    expect(cache.find('blue')(a)).toBeUndefined();
    cache.keep('cheap', [b], new Set([b]));
    expect([a, b, other].map((key) => cache.find('cheap')(key))).toEqual([true, true, false]);
  });

  it('forgets a catalog with all that was said of its resources', () => {
    const cache = new VerdictCache(10_000);
    for (const check of ['cheap', 'blue']) cache.keep(check, [a, b, other], new Set([a]));
    cache.forget(1);
    const known = ['cheap', 'blue'].map((check) => [a, b, other].map((key) => cache.find(check)(key)));
    expect(known).toEqual([
      [undefined, undefined, false],
      [undefined, undefined, false],
    ]);
    cache.clear();
    expect(cache.find('cheap')(other)).toBeUndefined();
  });

  it('knows what was said last of a resource, whichever number it has', () => {
    const cache = new VerdictCache(1_000_000);
    const keys = Array.from({ length: 100 }, (_, index) => keyOf(1, index * 7 + 1));
    const passing = new Set(keys.filter((_, index) => index % 3 === 0));
    cache.keep('cheap', keys, new Set(keys));
    cache.keep('cheap', keys, passing);
    expect(keys.map(cache.find('cheap'))).toEqual(keys.map((key) => passing.has(key)));
    expect(cache.find('cheap')(keyOf(1, 2))).toBeUndefined();
  });

  it('knows so much of a catalog, the last that was said', () => {
    const cache = new VerdictCache(1_000_000);
    for (let number = 0; number <= 1_000; number++) cache.keep(`check ${number}`, [a], new Set());
    const known = [0, 1, 1_000].map((number) => cache.find(`check ${number}`)(a));
    expect(known).toEqual([undefined, false, false]);
  });

  it('takes no check for another one when it has had too many', () => {
    const cache = new VerdictCache(1_000_000);
    cache.keep('cheap', [a], new Set([a]));
    for (let number = 0; number <= 10_000; number++) cache.keep(`check ${number}`, [other], new Set());
    expect(cache.find('cheap')(a)).toBeUndefined();
    cache.keep('cheap', [b], new Set());
    expect([a, b].map(cache.find('cheap'))).toEqual([undefined, false]);
  });

  it('forgets catalogs that were not asked for when it is full', () => {
    const cache = new VerdictCache(800);
    cache.keep('cheap', [a], new Set());
    cache.keep('cheap', [other], new Set());
    cache.find('cheap')(a);
    cache.keep('cheap', [keyOf(3, 1)], new Set());
    expect([a, other, keyOf(3, 1)].map(cache.find('cheap'))).toEqual([false, undefined, false]);
  });
});
