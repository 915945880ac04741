import { describe, expect, it } from 'vitest';
import { parseFilter } from '../filters/parse.ts';
import { patternSize } from './pattern-size.ts';

describe('the size of a regular expression', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['[a-z]\\d\\p{Lu}', 3],
    ['[]a]{3}', 3],
    ['a{100}', 100],
    ['a{2,100}', 100],
    ['a{100,}', 100],
    ['(ab|c){3}', 15],
    ['((a{10}){10}){10}', 1_110],
    ['\\(a{3}', 4],
    ['(a{3}', 3],
  ])('of %s is %i', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });
});

describe('a filter', () => {
  const parse = (condition: string) => () =>
    parseFilter(`$.catalogs[*].resources[?${condition}]`, { acceptPostfix: true });

  it('may hold regular expressions of a usual size', () => {
    expect(parse("match(@.a, '[a-z]{1,1000}')")).not.toThrow();
  });

  it.each([
    ['one that is too large', `match(@.a, '${'[a-z]{1,900}'.repeat(3)}')`],
    ['many that are too large together', Array(30).fill("search(@.a, '(a|b){100}')").join(' || ')],
    ['one that is too large in the form of PostgreSQL', `@.a like_regex "${'(a|b){900}'.repeat(3)}"`],
  ])('is refused with %s', (_, condition) => {
    expect(parse(condition)).toThrow(/regular expressions too large/);
  });
});
