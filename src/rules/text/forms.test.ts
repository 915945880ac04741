import { describe, expect, it } from 'vitest';
import { farMeaning, nearForms, partsOf, shortestFirst, textWords } from './forms.ts';

const near = (word: string, indexed: string) =>
  nearForms({ word, isLast: false }, ['en', 'hi']).meaningOf(indexed);
const far = (word: string, indexed: string, isLast = false) => farMeaning({ word, isLast }, indexed);

describe('what a word always stands for', () => {
  it('is itself, then its forms, then the word in another script', () => {
    const weights = ['chawal', 'chawals', 'चावल'].map((indexed) => near('chawal', indexed));
    expect(weights.map((each) => each?.form)).toEqual(['exact', 'inflected', 'other script']);
    const [exact, inflected, otherScript] = weights.map((each) => each?.weight ?? 0) as [
      number,
      number,
      number,
    ];
    expect([exact > inflected, inflected > otherScript]).toEqual([true, true]);
  });

  it('is no misspelt word, and none that begins with it', () => {
    expect(near('chargers', 'changers')).toBeUndefined();
    expect(near('charg', 'chargepoint')).toBeUndefined();
  });
});

describe('what a word stands for that is not indexed', () => {
  it('are words that begin with it, if it is the last one and has three letters', () => {
    expect(far('charg', 'charger', true)?.form).toBe('begun');
    expect(far('charg', 'chargepoint')).toBeUndefined();
    expect(far('ch', 'charger', true)).toBeUndefined();
    expect(far('charg', 'charger', true)?.weight).toBeGreaterThan(
      far('charg', 'chargepoint', true)?.weight ?? 1,
    );
  });

  it('are misspelt words: one edit before two, and those that begin and end alike first', () => {
    const weight = (indexed: string) => far('battrey', indexed)?.weight ?? 0;
    expect(weight('battery')).toBeGreaterThan(weight('battle'));
    expect(weight('cattle')).toBe(0);
    expect(far('camra', 'camera')?.weight).toBeGreaterThan(far('camra', 'amra')?.weight ?? 1);
    expect(far('60kw', '50kw')).toBeUndefined();
  });

  it('are the shortest words that begin with it, up to a limit', () => {
    const words = Array.from({ length: 80 }, (_, length) => `tea${'x'.repeat(80 - length)}`);
    expect(shortestFirst(words)).toHaveLength(50);
    expect(shortestFirst(words)[0]).toBe('teax');
  });
});

describe('compounds', () => {
  it('are neighbouring words in one', () => {
    const joined = textWords(['power', 'bank', 'the', 'bc', 'd']).filter(({ joins }) => joins);
    expect(joined).toEqual([{ word: 'powerbank', isLast: false, joins: ['power', 'bank'] }]);
    expect(textWords(['power', 'bank']).map(({ isLast }) => isLast)).toEqual([false, true, false]);
  });

  it('have parts of three letters or more', () => {
    expect(partsOf('laptop')).toEqual([['lap', 'top']]);
    expect(partsOf('tools')).toEqual([]);
    expect(partsOf('model42')).toEqual([]);
  });
});
