import { describe, expect, it } from 'vitest';
import { catalogWords, offerWords, resourceWords } from './word-weights.ts';

const named = (name: string) => resourceWords({ id: 'r', descriptor: { name } });

describe('the words of a document', () => {
  it('count most in a name, less in a description, least in an attribute', () => {
    const words = resourceWords({
      id: 'hidden',
      descriptor: { name: 'Green tea', shortDesc: 'Loose leaf' },
      resourceAttributes: { '@context': 'urn:x', '@type': 'Tea', origin: 'Assam' },
    });
    expect(Object.fromEntries(words)).toEqual({ green: 1, tea: 1, loose: 0.9, leaf: 0.9, assam: 0.8 });
  });

  it('count where they stand best', () => {
    const words = resourceWords({ id: 'r', descriptor: { name: 'Tea', longDesc: 'Tea from Assam, a tea' } });
    expect(words.get('tea')).toBe(1);
  });

  it('count more in a short name than in a long one, there still more than in a description', () => {
    expect(named('tea bags').get('tea')).toBe(1);
    expect(named('tea bags of Assam').get('tea')).toBe(0.98);
    expect(named('a b c d e f g h i j k l m n o p tea').get('tea')).toBe(0.91);
  });

  it('count less when they are those of the catalog, the provider or an offer', () => {
    const provider = { id: 'p', descriptor: { name: 'Tea House', shortDesc: 'All of Assam' } };
    const words = catalogWords({ descriptor: { name: 'Green tea' }, provider });
    expect(Object.fromEntries(words)).toMatchObject({ green: 0.9, tea: 0.9, house: 0.9, assam: 0.81 });
    expect(offerWords({ id: 'o', descriptor: { name: 'Half price' } }).get('half')).toBe(0.9);
  });

  it('are its first ten thousand: more are no text for people', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `w${n}x`).join(' ');
    const words = resourceWords({ id: 'r', descriptor: { name: 'Tea', longDesc: many(12_000) } });
    expect([words.size, words.has('tea')]).toEqual([10_000, true]);
    const book = `${'tea '.repeat(100_000)}coffee`;
    expect([...resourceWords({ id: 'r', descriptor: { name: 'Book', longDesc: book } }).keys()]).toEqual([
      'book',
      'tea',
    ]);
  });

  it('outweigh a typing error wherever they stand', () => {
    const worst = offerWords({
      id: 'o',
      offerAttributes: { '@context': 'urn:x', '@type': 'O', note: 'tea' },
    });
    expect(worst.get('tea')).toBeGreaterThan(0.6);
  });
});
