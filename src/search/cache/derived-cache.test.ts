import { describe, expect, it } from 'vitest';
import { DerivedCache } from './derived-cache.ts';

describe('a cache of values that were derived from lists', () => {
  const [word, every] = [{ list: 'word' }, { list: 'every' }];

  it('knows a value while all its sources are the same objects', () => {
    const cache = new DerivedCache<string, string>(10, ({ length }) => length);
    cache.keep('a text', [word, every], 'best');
    expect(cache.find('a text', [word, every])).toBe('best');
    expect(cache.find('another text', [word, every])).toBeUndefined();
    cache.clear();
    expect(cache.find('a text', [word, every])).toBeUndefined();
  });

  it.each([
    ['a source has changed', [{ ...word }, every]],
    ['a source was added', [word, every, word]],
    ['a source is missing', [word]],
    ['the sources come in another order', [every, word]],
  ])('does not know it when %s', (_, sources) => {
    const cache = new DerivedCache<string, string>(10, ({ length }) => length);
    cache.keep('a text', [word, every], 'best');
    expect(cache.find('a text', sources)).toBeUndefined();
    cache.keep('a text', sources, 'others');
    expect(cache.find('a text', sources)).toBe('others');
  });

  it('forgets the values that were not asked for the longest when it is full', () => {
    const cache = new DerivedCache<string, string>(12, ({ length }) => length);
    for (const name of ['a', 'b', 'c']) cache.keep(name, [word], 'best');
    cache.find('a', [word]);
    cache.keep('d', [word], 'best');
    expect(['a', 'b', 'c', 'd'].filter((name) => cache.find(name, [word]))).toEqual(['a', 'c', 'd']);
  });
});
