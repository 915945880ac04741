import { describe, expect, it } from 'vitest';
import { emptyList } from '../lists/posting-list.ts';
import { emptyWhole } from '../lists/read-whole.ts';
import type { KnownText } from '../text/read-words.ts';
import { RankingCache } from './ranking-cache.ts';

const best = { keys: Float64Array.of(1, 2), ranks: Float64Array.of(2, 1) };
const postings = () => ({ ...emptyWhole });

function known(word: object, every?: object, documents = 100): KnownText {
  const entry = { id: 1, documents: 2, postings: word, offered: emptyWhole };
  return {
    lookup: { words: [] },
    query: { words: [] },
    entries: new Map([['word', entry]]),
    every,
    documents,
  } as KnownText;
}

describe('the cache of rankings', () => {
  it('knows a ranking while the lists of its words are the same', () => {
    const cache = new RankingCache(2_000);
    const [word, every] = [postings(), { ...emptyList }];
    cache.keep('a text', known(word, every), best);
    expect(cache.find('a text', known(word, every))).toBe(best);
    expect(cache.find('another text', known(word, every))).toBeUndefined();
  });

  it.each([
    ['a list', (word: object, _: object) => known({ ...word }, _)],
    ['the list of all resources', (word: object, every: object) => known(word, { ...every })],
    ['the number of documents', (word: object, every: object) => known(word, every, 101)],
    [
      'what its words stand for',
      (word: object, every: object) => {
        const text = known(word, every);
        const [entry] = text.entries.values();
        return entry ? { ...text, entries: new Map([...text.entries, ['other', entry]]) } : text;
      },
    ],
  ])('forgets it when %s has changed', (_, changed) => {
    const cache = new RankingCache(2_000);
    const [word, every] = [postings(), { ...emptyList }];
    cache.keep('a text', known(word, every), best);
    expect(cache.find('a text', changed(word, every))).toBeUndefined();
    expect(cache.find('a text', known(word, every))).toBeUndefined();
  });

  it('does not keep one of resources that no list tells of', () => {
    const cache = new RankingCache(2_000);
    const word = postings();
    cache.keep('a text', known(word), best);
    expect(cache.find('a text', known(word))).toBeUndefined();
  });

  it('keeps neither long texts nor more resources than it has room for', () => {
    const cache = new RankingCache(2_000);
    const text = known(postings(), { ...emptyList });
    cache.keep('x'.repeat(1_001), text, best);
    expect(cache.find('x'.repeat(1_001), text)).toBeUndefined();
    const long = { keys: new Float64Array(900), ranks: new Float64Array(900) };
    for (const name of ['a', 'b', 'c']) cache.keep(name, text, long);
    expect(['a', 'b', 'c'].filter((name) => cache.find(name, text))).toEqual(['b', 'c']);
  });

  it('forgets what was not asked for the longest', () => {
    const cache = new RankingCache(2_000);
    const text = known(postings(), { ...emptyList });
    for (let number = 0; number < 19; number++) cache.keep(`text ${number}`, text, best);
    cache.find('text 0', text);
    cache.keep('one more', text, best);
    expect(cache.find('text 0', text)).toBe(best);
    expect(cache.find('text 1', text)).toBeUndefined();
  });
});
