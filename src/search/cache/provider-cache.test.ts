import { describe, expect, it } from 'vitest';
import { type KnownProvider, nameOf, ProviderCache } from './provider-cache.ts';

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

const nameOfOwner = (owner: string) => nameOf({ owner, providerId: 'p' });

describe('the cache of providers', () => {
  it('forgets the providers of an owner, and those that a changed catalog played a part for', () => {
    const cache = new ProviderCache(1_000);
    const known = () => ['a', 'b', 'c', 'd'].filter((owner) => cache.find(nameOfOwner(owner)));
    cache.keep(nameOfOwner('a'), provider(1));
    cache.keep(nameOfOwner('b'), provider(1, 2));
    cache.keep(nameOfOwner('c'), provider(3));
    cache.keep(nameOfOwner('d'), provider(3));
    cache.noteChanged(1);
    expect(known()).toEqual(['c', 'd']);
    cache.forgetTagged('c');
    expect(known()).toEqual(['d']);
  });

  it('notes changed catalogs until their providers are looked up, while it holds anything at all', () => {
    const cache = new ProviderCache(1_000);
    cache.noteChanged(1);
    expect([...cache.unread]).toEqual([]);
    cache.keep(nameOfOwner('a'), provider(1));
    cache.noteChanged(2);
    expect([...cache.unread]).toEqual([2]);
    for (let key = 3; key < 5_003; key++) cache.noteChanged(key);
    expect([cache.find(nameOfOwner('a')), cache.unread.size]).toEqual([undefined, 0]);
  });
});
