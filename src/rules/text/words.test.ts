import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldText, indexedWords, queryWords } from './words.ts';

describe('queryWords', () => {
  it.each([
    [
      'a sentence',
      'I am looking for a FAST charger, please!',
      ['i', 'am', 'looking', 'for', 'a', 'fast', 'charger', 'please'],
    ],
    ['accents', 'Crème brûlée à Łódź, Smørrebrød', ['creme', 'brulee', 'a', 'lodz', 'smorrebrod']],
    ['German', 'Straße Grüße STRASSE', ['strasse', 'grusse']],
    ['Turkish', 'İstanbul ISPARTA ışık', ['istanbul', 'isparta', 'isik']],
    ['Greek', 'Καφές ΚΑΦΕΣ', ['καφεσ']],
    ['Cyrillic', 'Зелёный чай', ['зеленыи', 'чаи']],
    ['Hindi, whose vowel signs stay', 'चाय की पत्ती', ['चाय', 'की', 'पत्ती']],
    ['Arabic, whose points go', 'قَهْوَة عَرَبِيَّة', ['قهوة', 'عربية']],
    ['Hebrew, whose points go', 'שָׁלוֹם', ['שלום']],
    ['Korean', '커피 원두', ['커피', '원두']],
    ['Chinese, as pairs', '充电站', ['充电', '电站']],
    ['one Chinese character', '茶', ['茶']],
    ['Japanese', 'コーヒー豆', ['コー', 'ーヒ', 'ヒー', 'ー豆']],
    ['Japanese in half width', 'ｺｰﾋｰ', ['コー', 'ーヒ', 'ヒー']],
    ['Thai, as pairs of characters with their marks', 'ชาเขียว', ['ชา', 'าเ', 'เขี', 'ขีย', 'ยว']],
    ['scripts side by side', 'EV充电', ['ev', '充电']],
    [
      'units, but not the letters of models',
      '60kW CCS2 VN566AA 566AA',
      ['60kw', '60', 'kw', 'ccs2', 'vn566aa', '566aa'],
    ],
    ['units of other scripts', '5किलो', ['5किलो', '5', 'किलो']],
    ['hyphens', 'e-bike Wi‑Fi', ['e', 'bike', 'ebike', 'wi', 'fi', 'wifi']],
    [
      'elisions',
      "the children's l’eau d'Orsay rock'n'roll",
      ['the', 'children', 'eau', 'orsay', 'rock', 'roll'],
    ],
    ['enumerations', 'fast_charging/DC', ['fast', 'charging', 'dc']],
    ['ligatures and full width', 'ﬁne ＡＢＣ', ['fine', 'abc']],
    ['soft hyphens', 'char\u00adger', ['charger']],
    ['no words at all', '?! 🙂 —', []],
  ])('finds the words of %s', (_, text, words) => {
    expect(queryWords(text)).toEqual(words);
  });

  it('ignores what is too long to be a word, and what is too much to be a query', () => {
    expect(queryWords(`tea ${'x'.repeat(65)}`)).toEqual(['tea']);
    expect(queryWords(Array.from({ length: 500 }, (_, index) => `w${index}x`).join(' '))).toHaveLength(100);
    expect(queryWords('ab '.repeat(1_000_000))).toEqual(['ab']);
  });
});

describe('indexedWords', () => {
  it('has single Chinese characters beside the pairs', () => {
    expect([...indexedWords('红茶')]).toEqual(['红茶', '红', '茶']);
  });

  it('has a word as often as it stands there', () => {
    expect(indexedWords('tea and Tea')).toEqual(['tea', 'and', 'tea']);
  });

  it('has every word of the same text as a query', () => {
    const unit = fc.constantFrom(..."aBcé9 -_'’ßςİ充电茶コー์ชाचคี🙂\u0301\u200d");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const indexed = indexedWords(text);
        for (const word of queryWords(text)) expect(indexed).toContain(word);
      }),
    );
  });
});

describe('foldText', () => {
  it('changes nothing that is folded already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
        const folded = foldText(foldText(text));
        expect(foldText(folded)).toBe(folded);
      }),
    );
  });
});

describe('a plain text', () => {
  const plain = fc.string({ unit: fc.constantFrom(...'abZ09 -\'"/.\n_'), maxLength: 60 });

  it('has the same words in the company of letters that are not plain', () => {
    fc.assert(
      fc.property(plain, (text) => {
        expect(new Set(indexedWords(`${text} é`))).toEqual(new Set([...indexedWords(text), 'e']));
      }),
    );
  });
});
