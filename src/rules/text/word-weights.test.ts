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
    expect(Object.fromEntries(words)).toEqual({
      green: 0.92,
      tea: 0.92,
      loose: 0.81,
      leaf: 0.81,
      assam: 0.62,
    });
  });

  it('count more where they stand again, less and less', () => {
    const described = (text: string) =>
      resourceWords({ id: 'r', descriptor: { name: 'x', longDesc: text } }).get('tea') ?? 0;
    const [once, twice, thrice] = ['tea b c', 'tea tea c', 'tea tea tea'].map(described) as [
      number,
      number,
      number,
    ];
    expect(once).toBeLessThan(twice);
    expect(twice).toBeLessThan(thrice);
    expect(thrice - twice).toBeLessThan(twice - once);
  });

  it('count more in a short text than in a long one, but most in a name', () => {
    const long = named('a b c d e f g h i j k l m n o p tea').get('tea') ?? 0;
    expect(named('tea bags').get('tea')).toBeGreaterThan(long);
    const described = resourceWords({ id: 'r', descriptor: { name: 'x', shortDesc: 'Tea' } }).get('tea');
    expect(long).toBeGreaterThan(described ?? 1);
  });

  it('count hardly where they are one of many attributes', () => {
    const attributes = Object.fromEntries(Array.from({ length: 180 }, (_, n) => [`a${n}`, `w${n}`]));
    const words = resourceWords({
      id: 'r',
      descriptor: { name: 'x' },
      resourceAttributes: { '@context': 'urn:x', '@type': 'T', ...attributes },
    });
    expect(words.get('w7')).toBeLessThan(0.3);
  });

  it('count less when they are those of the catalog, the provider or an offer', () => {
    const provider = { id: 'p', descriptor: { name: 'Tea House' } };
    const own = named('Green house').get('green') ?? 0;
    expect(catalogWords({ descriptor: { name: 'Green house' }, provider }).get('green')).toBeLessThan(
      own * 0.65,
    );
    expect(offerWords({ id: 'o', descriptor: { name: 'Green house' } }).get('green')).toBeLessThan(
      own * 0.65,
    );
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
});
