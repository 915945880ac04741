import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { WordCache, type WordMatch } from './word-cache.ts';

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𐐨'), minLength: 1, maxLength: 7 }),
  fc.constantFrom('50', '60', 'a5'),
);
const matches = (count: number): WordMatch[] =>
  Array.from({ length: count }, (_, id) => ({ id, word: `w${id}`, form: 'misspelt', weight: 0.6 }));
/** As of a word that may be misspelt. */
const keep = (cache: WordCache, known: string, found: WordMatch[]) =>
  cache.keep(known, found, (added, isAlike) => isAlike && findEdits(wordOf(known), added) !== undefined);
/** Names of entries have signs that no word has. */
const wordOf = (name: string) => name.replace(/[-*]/g, '');

describe('what words stand for', () => {
  it('is forgotten of those that may stand for a new word, and of no others', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          word.map((each) => `-${each}*`),
          { maxLength: 20 },
        ),
        fc.array(word, { maxLength: 3 }),
        (known, added) => {
          const cache = new WordCache(1_000);
          for (const each of known) keep(cache, each, matches(2));
          cache.noteChange(added);
          for (const each of known) {
            const isOutdated = added.some((one) => findEdits(wordOf(each), one) !== undefined);
            expect(cache.find(each)).toEqual(isOutdated ? undefined : matches(2));
          }
        },
      ),
    );
  });

  it('is forgotten when more words came than are named, and the number of documents with every change', () => {
    const cache = new WordCache(1_000);
    keep(cache, 'lamp', matches(1));
    cache.documents = 7;
    cache.noteChange([]);
    expect([cache.documents, cache.find('lamp')]).toEqual([undefined, matches(1)]);
    cache.noteChange(null);
    expect(cache.find('lamp')).toBeUndefined();
  });

  it('is forgotten where it would take long to tell which words are concerned', () => {
    const cache = new WordCache(100_000);
    for (let number = 0; number < 3_000; number++) keep(cache, `known${number}`, []);
    cache.noteChange(['xylophone']);
    expect(cache.find('known1')).toEqual([]);
    cache.noteChange(Array.from({ length: 100 }, (_, number) => `xylophone${number}`));
    expect(cache.find('known1')).toBeUndefined();
  });

  it('is forgotten of those that were not asked for the longest, so that not too much is kept', () => {
    const cache = new WordCache(9);
    for (const each of ['a', 'b', 'c']) keep(cache, each, matches(2));
    cache.find('a');
    keep(cache, 'd', matches(1));
    expect(['a', 'b', 'c', 'd'].filter((each) => cache.find(each))).toEqual(['a', 'c', 'd']);
    keep(cache, 'e', matches(20));
    expect(cache.find('e')).toBeUndefined();
  });
});
