import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { type WordMatch, WordMemory } from './word-cache.ts';

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𐐨'), minLength: 1, maxLength: 7 }),
  fc.constantFrom('50', '60', 'a5'),
);
const matches = (count: number): WordMatch[] =>
  Array.from({ length: count }, (_, id) => ({ id, word: `w${id}`, edits: 1 }));

describe('what words stand for', () => {
  it('is forgotten of those that may stand for a new word, and of no others', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { maxLength: 20 }),
        fc.array(word, { maxLength: 3 }),
        (known, added) => {
          const memory = new WordMemory(1_000);
          for (const each of known) memory.keep(each, matches(2));
          memory.noteChange(added);
          for (const each of known) {
            const isOutdated = added.some((one) => findEdits(each, one) !== undefined);
            expect(memory.find(each)).toEqual(isOutdated ? undefined : matches(2));
          }
        },
      ),
    );
  });

  it('is forgotten when more words came than are named, and the number of documents with every change', () => {
    const memory = new WordMemory(1_000);
    memory.keep('lamp', matches(1));
    memory.documents = 7;
    memory.noteChange([]);
    expect([memory.documents, memory.find('lamp')]).toEqual([undefined, matches(1)]);
    memory.noteChange(null);
    expect(memory.find('lamp')).toBeUndefined();
  });

  it('is forgotten where it would take long to tell which words are concerned', () => {
    const memory = new WordMemory(100_000);
    for (let number = 0; number < 3_000; number++) memory.keep(`known${number}`, []);
    memory.noteChange(['xylophone']);
    expect(memory.find('known1')).toEqual([]);
    memory.noteChange(Array.from({ length: 100 }, (_, number) => `xylophone${number}`));
    expect(memory.find('known1')).toBeUndefined();
  });

  it('is forgotten of those that were not asked for the longest, so that not too much is kept', () => {
    const memory = new WordMemory(9);
    for (const each of ['a', 'b', 'c']) memory.keep(each, matches(2));
    memory.find('a');
    memory.keep('d', matches(1));
    expect(['a', 'b', 'c', 'd'].filter((each) => memory.find(each))).toEqual(['a', 'c', 'd']);
    memory.keep('e', matches(20));
    expect(memory.find('e')).toBeUndefined();
  });
});
