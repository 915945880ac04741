import { beforeEach, describe, expect, it } from 'vitest';
import { type KnownHome, PageCache } from './page-cache.ts';

const kilobyte = 'x'.repeat(1_000);

function home(owner: string, ...keys: number[]): KnownHome {
  const document = { text: kilobyte };
  return {
    ...{ owner, head: { text: '{}' }, offers: [], more: 0 },
    resources: new Map(keys.map((key) => [key, { document, offers: [] }])),
  };
}

describe('the cache of documents', () => {
  let cache: PageCache;
  beforeEach(() => {
    cache = new PageCache(10_000);
  });
  const known = () => [1, 2, 3, 4, 5].filter((catalogKey) => cache.find(catalogKey));

  it('adds resources to a catalog that it knows already', () => {
    cache.keep(1, home('a', 11));
    const { head } = cache.find(1) as KnownHome;
    cache.keep(1, home('a', 12));
    expect([...(cache.find(1)?.resources.keys() ?? [])]).toEqual([11, 12]);
    expect(cache.find(1)?.head).toBe(head);
  });

  it('forgets the catalogs that were not asked for the longest when it is full', () => {
    for (const catalogKey of [1, 2, 3]) cache.keep(catalogKey, home('a', 11, 12));
    cache.find(1);
    cache.keep(4, home('b', 11, 12));
    expect(known()).toEqual([1, 3, 4]);
  });

  it('has room again for what was forgotten', () => {
    for (const catalogKey of [1, 2, 3]) cache.keep(catalogKey, home('a', 11, 12));
    cache.forget(2);
    cache.keep(2, home('a', 11, 12));
    expect(known()).toEqual([1, 2, 3]);
    cache.clear();
    for (const catalogKey of [1, 2, 3]) cache.keep(catalogKey, home('a', 11, 12));
    expect(known()).toEqual([1, 2, 3]);
  });

  it('does not hold a catalog that is larger than itself', () => {
    cache.keep(1, home('a', 11, 12, 13, 14, 15, 16, 17, 18, 19));
    expect(known()).toEqual([]);
  });

  it('forgets all catalogs of an owner', () => {
    cache.keep(1, home('a', 11));
    cache.keep(2, home('b', 11));
    cache.keep(3, home('a', 11));
    cache.forget(3);
    cache.keep(3, home('a', 11));
    cache.forgetTagged('a');
    expect(known()).toEqual([2]);
  });
});
