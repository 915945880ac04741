import { describe, expect, it } from 'vitest';
import { likenessOfSounds, soundKeys } from './sounds.ts';

describe('words in another script', () => {
  it.each([
    ['atta', 'आटा'],
    ['aata', 'आटा'],
    ['chawal', 'चावल'],
    ['chai', 'चाय'],
    ['namkeen', 'नमकीन'],
    ['vigyan', 'विज्ञान'],
    ['cricketer', 'क्रिकेटर'],
    ['dosa', 'దోస'],
    ['rasgulla', 'রসগোল্লা'],
    ['idli', 'ಇಡ್ಲಿ'],
    ['idli', 'இட்லி'],
    ['dosai', 'தோசை'],
  ])('%s sounds like %s', (latin, indic) => {
    expect(likenessOfSounds(latin, indic)).toBeGreaterThan(0.3);
    expect(likenessOfSounds(indic, latin)).toBe(likenessOfSounds(latin, indic));
    expect(soundKeys(indic).index).toEqual(expect.arrayContaining(soundKeys(latin).query));
    expect(soundKeys(indic).query).toEqual(expect.arrayContaining(soundKeys(latin).index));
  });

  it('are closer the more of their vowels are the same', () => {
    expect(likenessOfSounds('chawal', 'चावल')).toBeGreaterThan(likenessOfSounds('chuvel', 'चावल') ?? 1);
  });

  it('never stand for words of their own script, and words without one have no keys', () => {
    expect(likenessOfSounds('atta', 'aata')).toBeUndefined();
    expect(likenessOfSounds('आटा', 'आटे')).toBeUndefined();
    for (const word of ['60kw', '茶', 'чай', 'of']) expect(soundKeys(word)).toEqual({ index: [], query: [] });
  });
});
