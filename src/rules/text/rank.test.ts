import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankOf, rarestFirst, weighQuery } from './rank.ts';
import type { TextField, TextLevel } from './searched-texts.ts';

const documents: Record<string, number> = {
  the: 990,
  near: 500,
  coffee: 40,
  arabica: 4,
  toffee: 2,
  coffer: 1,
};
const query = (...words: string[]) =>
  weighQuery(
    words.map((word) => ({ word, matches: [{ word, edits: 0, documents: documents[word] ?? 0 }] })),
    1_000,
  );
const resource = (words: string, field: TextField = 'name', level: TextLevel = 'resource') => ({
  level,
  words: new Map(words.split(' ').map((word) => [word, field] as const)),
});

describe('rankOf', () => {
  it('is undefined where no word matches', () => {
    expect(rankOf(query('coffee'), [resource('tea')])).toBeUndefined();
    expect(rankOf(query(), [resource('tea')])).toBeUndefined();
  });

  it('puts more matched words before fewer', () => {
    const words = query('coffee', 'arabica', 'near');
    const rank = (text: string) => rankOf(words, [resource(text)]) ?? 0;
    expect(rank('coffee arabica')).toBeGreaterThan(rank('arabica'));
    expect(rank('coffee arabica near')).toBeGreaterThan(rank('coffee arabica'));
  });

  it('puts rarer words before common ones, so that a sentence finds what it is about', () => {
    const words = query('the', 'near', 'arabica');
    const rank = (text: string) => rankOf(words, [resource(text)]) ?? 0;
    expect(rank('arabica')).toBeGreaterThan(rank('near'));
    expect(rank('near')).toBeGreaterThan(rank('the'));
    expect(rank('arabica')).toBeGreaterThan(rank('the near'));
  });

  it('puts names before descriptions before attributes, and the resource before what it belongs to', () => {
    const rank = (field: TextField, level: TextLevel = 'resource') =>
      rankOf(query('coffee'), [resource('coffee', field, level)]) ?? 0;
    expect(rank('name')).toBeGreaterThan(rank('description'));
    expect(rank('description')).toBeGreaterThan(rank('attribute'));
    expect(rank('name')).toBeGreaterThan(rank('name', 'provider'));
  });

  it('takes the best place of each word', () => {
    const places = [resource('coffee', 'attribute', 'catalog'), resource('coffee')];
    expect(rankOf(query('coffee'), places)).toBe(rankOf(query('coffee'), [resource('coffee')]));
  });

  it('puts an exact word before a typing error, wherever either stands and however rare the other is', () => {
    const words = weighQuery(
      [
        {
          word: 'coffee',
          matches: ['coffee', 'toffee', 'coffer'].map((word, edits) => ({
            word,
            edits,
            documents: documents[word] ?? 0,
          })),
        },
      ],
      1_000,
    );
    const exact = rankOf(words, [resource('coffee', 'attribute', 'catalog')]) ?? 0;
    const oneEdit = rankOf(words, [resource('toffee')]) ?? 0;
    const twoEdits = rankOf(words, [resource('coffer')]) ?? 0;
    expect(exact).toBeGreaterThan(oneEdit);
    expect(oneEdit).toBeGreaterThan(twoEdits);
    expect(twoEdits).toBeGreaterThan(0);
  });

  it('is above zero for whatever matches, in an index of any size', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (count, total) => {
        const words = weighQuery(
          [{ word: 'a', matches: [{ word: 'a', edits: 0, documents: count }] }],
          total,
        );
        expect(rankOf(words, [resource('a')])).toBeGreaterThan(0);
      }),
    );
  });
});

describe('rarestFirst', () => {
  it('orders the words that an index is asked for', () => {
    expect(rarestFirst(query('the', 'arabica', 'coffee')).map(({ word }) => word)).toEqual([
      'arabica',
      'coffee',
      'the',
    ]);
  });
});
