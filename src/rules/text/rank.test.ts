import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankOf as rankAndBandOf, rarestFirst, splitCompounds, weighQuery } from './rank.ts';

const documents: Record<string, number> = {
  the: 990,
  near: 500,
  coffee: 40,
  arabica: 4,
  toffee: 2,
  coffer: 1,
};
const exact = (word: string) => ({
  word,
  form: 'exact' as const,
  weight: 1,
  documents: documents[word] ?? 0,
});
const query = (...words: string[]) =>
  weighQuery(
    words.map((word) => ({ word, matches: [exact(word)] })),
    1_000,
  );
const rankOf = (...asked: Parameters<typeof rankAndBandOf>) => rankAndBandOf(...asked)?.rank;
const resource = (words: string, weight = 1) => new Map(words.split(' ').map((word) => [word, weight]));

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

  it('puts first what counts more where it stands, but never before more words', () => {
    const rank = (text: string, weight: number) =>
      rankOf(query('coffee', 'coffers'), [resource(text, weight)]) ?? 0;
    expect(rank('coffee', 1)).toBeGreaterThan(rank('coffee', 0.9));
    expect(rank('coffee coffers', 0.72)).toBeGreaterThan(rank('coffers', 1));
  });

  it('takes common words for common, also where an index has few of them', () => {
    const words = query('my', 'coffee');
    expect(rankOf(words, [resource('coffee')])).toBeGreaterThan(rankOf(words, [resource('my')]) ?? 0);
  });

  it('takes the best place of each word', () => {
    const places = [resource('coffee', 0.8), resource('coffee')];
    expect(rankOf(query('coffee'), places)).toBe(rankOf(query('coffee'), [resource('coffee')]));
  });

  const coffees = { word: 'coffees', form: 'inflected' as const, weight: 0.9, documents: 1 };
  const misspelt = { word: 'toffee', form: 'misspelt' as const, weight: 0.6, documents: 2 };

  it('puts a word before its forms, however rare they are', () => {
    const words = weighQuery([{ word: 'coffee', matches: [coffees, exact('coffee')] }], 1_000);
    expect(rankOf(words, [resource('coffee')])).toBeGreaterThan(rankOf(words, [resource('coffees')]) ?? 0);
  });

  it('puts two words in one below both of them, however rare that is', () => {
    const joined = { word: 'coffeearabica', form: 'joined' as const, weight: 0.9, documents: 1 };
    const words = weighQuery(
      [
        ...['coffee', 'arabica'].map((word) => ({ word, matches: [exact(word)] })),
        { word: joined.word, joins: ['coffee', 'arabica'], matches: [joined] },
      ],
      1_000,
    );
    const rank = (text: string) => rankOf(words, [resource(text)]) ?? 0;
    expect(rank('coffee arabica')).toBeGreaterThan(rank('coffeearabica'));
    expect(rank('coffeearabica')).toBeGreaterThan(rank('arabica'));
  });

  it('takes a word for misspelt only where the index does not have it', () => {
    const rank = (...matches: (typeof coffees | typeof misspelt | ReturnType<typeof exact>)[]) =>
      rankOf(weighQuery([{ word: 'coffee', matches }], 1_000), [resource('toffee')]);
    expect(rank(exact('coffee'), misspelt)).toBeUndefined();
    expect(rank(coffees, misspelt)).toBeGreaterThan(0);
    expect(rank({ ...exact('coffee'), documents: 0 }, misspelt)).toBeGreaterThan(0);
  });

  it('is above zero for whatever matches, in an index of any size', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (count, total) => {
        const words = weighQuery(
          [{ word: 'a', matches: [{ word: 'a', form: 'exact', weight: 1, documents: count }] }],
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

describe('the band of a resource', () => {
  const coffees = { word: 'coffees', form: 'inflected' as const, weight: 0.9, documents: 2 };
  const words = weighQuery(
    [
      { word: 'coffee', matches: [exact('coffee'), coffees] },
      { word: 'arabica', matches: [exact('arabica')] },
    ],
    1_000,
  );
  const band = (text: string, weight?: number) => rankAndBandOf(words, [resource(text, weight)])?.band ?? 0;

  it('is the same wherever the same words stand, and higher for more and rarer words', () => {
    expect(band('coffee', 0.7)).toBe(band('coffee coffees'));
    expect(band('arabica')).toBeGreaterThan(band('coffee'));
    expect(band('coffee arabica')).toBeGreaterThan(band('arabica'));
  });

  it('counts half for a word that did not match exactly', () => {
    expect(band('coffees')).toBeCloseTo(band('coffee') / 2);
  });
});

describe('splitCompounds', () => {
  const documentsOf = (word: string) => ({ power: 9, bank: 5, pow: 1, erbank: 1 })[word] ?? 0;

  it('asks for the parts of a word that stands for nothing, those of which there are most', () => {
    const words = splitCompounds([{ word: 'powerbank', matches: [] }], documentsOf);
    expect(words.map(({ word }) => word)).toEqual(['power', 'bank']);
    expect(words[0]?.matches).toEqual([{ word: 'power', form: 'part', weight: 0.8, documents: 9 }]);
  });

  it('leaves a word that stands for something, and one of which a part is not indexed', () => {
    for (const asked of [
      { word: 'powerbank', matches: [exact('coffee')] },
      { word: 'powerbunk', matches: [] },
    ])
      expect(splitCompounds([asked], documentsOf)).toEqual([asked]);
  });
});
