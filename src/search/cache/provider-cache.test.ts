import { describe, expect, it } from 'vitest';
import { type KnownProvider, ProviderCache } from './provider-cache.ts';

/** With the keys of its catalogs. */
function provider(...catalogKeys: number[]): KnownProvider {
  return {
    ...{
      keys: new Float64Array(),
      ids: new Uint32Array(),
      validity: new Map(),
      rivals: [],
      homes: catalogKeys,
    },
    ...{ states: new Map(catalogKeys.map((key) => [key, undefined])), isTimeless: true, listings: new Map() },
  };
}

const nameOf = (owner: string) => ({ owner, providerId: 'p' });
const remembered = (cache: ProviderCache) =>
  ['namesOfOwner', 'namesOfCatalog'].map((member) => [...Reflect.get(cache, member).keys()]);

describe('the cache of providers', () => {
  it('remembers owners and catalogs of no other providers than those that it holds', () => {
    const cache = new ProviderCache(100);
    cache.keep(nameOf('too large'), provider(1, 2, 3, 4, 5));
    expect(remembered(cache)).toEqual([[], []]);
    cache.keep(nameOf('a'), provider(1, 2));
    cache.keep(nameOf('b'), provider(2));
    expect(remembered(cache)).toEqual([
      ['a', 'b'],
      [1, 2],
    ]);
    cache.keep(nameOf('evicts a'), provider(3));
    expect(cache.find(nameOf('a'))).toBeUndefined();
    expect(remembered(cache)).toEqual([
      ['b', 'evicts a'],
      [2, 3],
    ]);
    const off = new ProviderCache(0);
    off.keep(nameOf('a'), provider(1));
    expect(remembered(off)).toEqual([[], []]);
  });

  it('forgets the providers of an owner, and those that a changed catalog played a part for', () => {
    const cache = new ProviderCache(1_000);
    cache.keep(nameOf('a'), provider(1));
    cache.keep(nameOf('b'), provider(1, 2));
    cache.keep(nameOf('c'), provider(3));
    cache.noteChanged(1);
    expect(remembered(cache)).toEqual([['c'], [3]]);
    cache.forgetOwner('c');
    expect(remembered(cache)).toEqual([[], []]);
  });
});
